import RequestOperations

/// Why a queue refused something.
public struct OfflineQueueError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. The set is open, so a new code does not break a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, suitable for a log.
        public let description: String

        private init(_ name: String) { description = name }

        /// The name of the queue is empty or too long.
        public static let invalidName = Self("invalidName")
        /// The queue was closed.
        public static let closed = Self("closed")
        /// A bound of the queue is reached, and its policy is to reject.
        public static let full = Self("full")
        /// The disk has no room. Nothing was added. Add it again when there is room.
        public static let diskFull = Self("diskFull")
        /// Another process kept its lock on the database for too long.
        public static let busy = Self("busy")
        /// The request has no URL, a body that comes from a stream, or a body in a file that cannot be read.
        public static let unusableRequest = Self("unusableRequest")
        /// No handler is registered for the type of the message.
        public static let unregistered = Self("unregistered")
        /// The message could not be encoded.
        public static let unencodable = Self("unencodable")
        /// There is no record with the id, nor an outcome.
        public static let unknownRecord = Self("unknownRecord")
        /// A newer version of this package has made the database.
        public static let newerSchema = Self("newerSchema")
        /// Another process sends now, so this one may not.
        public static let leaseLost = Self("leaseLost")
        /// The database could not be read or written.
        public static let storeFailed = Self("storeFailed")
        /// The change is in the database, but it could not be flushed to the disk. What was added may be delivered. A
        /// loss of power may undo the change.
        public static let unflushed = Self("unflushed")

        // Disfavoured. Otherwise the compiler names this type where a pattern of another type is wrong.

        /// Matches an error that is an ``OfflineQueueError`` of this code.
        @_disfavoredOverload
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? OfflineQueueError)?.code == code
        }
    }

    /// What went wrong.
    public let code: Code
    /// The cause, where there is one.
    public let underlying: (any Error)?

    package init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }

    /// The code and the cause in one line. For an error that is not of this package, it shows only the type and the number.
    /// The text could quote data to be stored.
    public var description: String {
        switch underlying {
        case let cause as FileError: "\(code): \(cause)"
        case let cause as any StoreFailure: "\(code): \(cause)"
        case let cause?: "\(code): \(cause.redacted)"
        case nil: "\(code)"
        }
    }
}

extension OfflineQueueError: OpaqueReflectable {}

/// An error of a store whose text has one line and shows no data of a record, so that it can be logged.
package protocol StoreFailure: Error, CustomStringConvertible {}
