#if PostgreSQL
    import Foundation
    import RequestOperations

    /// Waits for notifications of a database, on a connection and a thread of its own.
    ///
    /// A lost connection is made again. What was notified meanwhile is lost, so a new connection counts as a notification.
    /// Behind a pooler in transaction mode no notification comes.
    package final class PostgreSQLListener: Sendable {
        private let settings: PostgreSQLSettings
        private let channel: String
        private let text: String
        private let onNotification: @Sendable () -> Void
        private let onFailure: @Sendable (any Error) -> Void
        /// The ends of a pipe. Closing the second ends the thread, which closes the first.
        private let pipeEnds: (read: Int32, write: Int32)
        private let isClosed = Locked(false)

        private static let backoff = Backoff.exponential(
            initial: .milliseconds(100), factor: 2, maximum: .seconds(5), jitter: .equal)

        /// Begins to listen.
        ///
        /// - Parameters:
        ///   - settings: How the connection is made.
        ///   - channel: The channel, a plain identifier.
        ///   - text: The text of the notifications that count.
        ///   - onNotification: Called on the thread of the listener.
        ///   - onFailure: Called on that thread when no connection can be made, once until there is one again.
        /// - Returns: `nil` if there is no descriptor left for it.
        package init?(
            _ settings: PostgreSQLSettings, channel: String, text: String,
            onNotification: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (any Error) -> Void
        ) {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            pipeEnds = (ends[0], ends[1])
            self.settings = settings
            self.channel = channel
            self.text = text
            self.onNotification = onNotification
            self.onFailure = onFailure
            Thread.detachNewThread { self.listen() }
        }

        /// Ends the listening. A second call has no effect.
        package func close() {
            let wasClosed = isClosed.withLock { isClosed in
                defer { isClosed = true }
                return isClosed
            }
            if !wasClosed { Foundation.close(pipeEnds.write) }
        }

        private func listen() {
            defer { Foundation.close(pipeEnds.read) }
            var (failures, isReported) = (0, false)
            repeat {
                var isListening = false
                do {
                    let connection = try PostgreSQLConnection(settings)
                    try connection.execute("LISTEN \(channel)")
                    (failures, isReported, isListening) = (0, false, true)
                    onNotification()
                    while !isClosed(or: connection.descriptor, within: nil) {
                        if try connection.notifications().contains(text) { onNotification() }
                    }
                } catch {
                    // Polling finds what is not notified.
                    failures += 1
                    // A connection that is lost is no failure if it can be made again.
                    if !isListening, !isReported {
                        isReported = true
                        onFailure(error)
                    }
                }
            } while !isClosed(or: nil, within: failures == 0 ? .zero : Self.backoff.delay(beforeRetry: failures))
        }

        /// Waits until a connection can be read, or the time is up. Returns whether the listener was closed.
        private func isClosed(or descriptor: Int32?, within time: Duration?) -> Bool {
            let descriptors = [pipeEnds.read] + (descriptor.map { [$0] } ?? [])
            return PostgreSQLSocket.readable(descriptors, within: time).contains(pipeEnds.read)
        }
    }
#endif
