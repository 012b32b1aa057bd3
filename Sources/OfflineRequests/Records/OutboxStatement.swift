import Foundation
public import RequestOperations

/// The statement that adds a request to a queue in PostgreSQL. Run it with the driver that your program has, in the
/// transaction of the row that causes the request.
///
/// ```swift
/// let statement = try OutboxStatement(adding: request, to: "webhooks", options: OfflineOptions(lane: customer.id))
/// try await connection.query(statement.text, statement.parameters)
/// ```
///
/// A rollback leaves nothing. After the commit, a program that has the queue open sends the request. The database needs the
/// schema of the queue, and the role the right to call `request_operations.add`.
public struct OutboxStatement: Sendable, Hashable {
    /// What happens if there is an undelivered record with the unique key.
    public enum Policy: String, Sendable, Hashable {
        /// The new record is not added. The statement returns the id of the old one.
        case keep
        /// The old records that are not in flight are removed.
        case replace
        /// The new record is added beside the old ones.
        case append
    }

    /// The SQL, with the parameters `$1`, `$2` and so on. It returns one row with the id of the record, a `bigint`.
    public let text: String
    /// The parameters, all as texts. The statement casts them to their types.
    public let parameters: [String?]
    /// The fields that held credentials and are left out. `URL` stands for a user in the URL.
    public let omittedCredentials: [String]

    /// Makes a statement.
    ///
    /// - Parameters:
    ///   - request: The request. Its body must not be a stream.
    ///   - queue: The name of the queue.
    ///   - options: How the request is queued.
    ///   - uniqueKey: A key for requests that stand for the same thing. `nil` by default. Until your transaction ends, other
    ///     additions with this key wait for it.
    ///   - policy: What happens if there is a record with the key. ``Policy/replace`` by default.
    /// - Throws: ``OfflineQueueError/Code/unusableRequest``.
    public init(
        adding request: URLRequest, to queue: String, options: OfflineOptions = OfflineOptions(),
        uniqueKey: String? = nil, policy: Policy = .replace
    ) throws {
        guard request.httpBodyStream == nil else { throw OfflineQueueError(.unusableRequest) }
        let draft = try Draft(request, options)
        let content = draft.content
        let fields = try JSONEncoder().encode(content.fields ?? [:])
        let arguments: [(name: String, type: String, value: String?)] = [
            ("queue", "text", queue),
            ("method", "text", content.method),
            ("url", "text", content.url?.absoluteString),
            ("headers", "jsonb", String(decoding: fields, as: UTF8.self)),
            ("body", "bytea", request.httpBody.map(Self.hex)),
            ("lane", "text", options.lane ?? ""),
            ("unique_key", "text", uniqueKey),
            ("not_before", "timestamptz", options.notBefore.flatMap(Self.seconds)),
            ("expires", "timestamptz", options.expires.flatMap(Self.seconds)),
            ("tag", "text", options.tag),
            ("priority", "int", String(options.priority)),
            ("policy", "text", policy.rawValue),
            ("idempotency_key", "text", content.idempotencyKey),
            ("timeout", "float8", content.timeout.map { String($0) }),
            ("user_info", "bytea", options.userInfo.map(Self.hex)),
            ("constraints", "text[]", "{" + content.constraints.map(Self.element).joined(separator: ",") + "}"),
        ]
        let list = arguments.enumerated().map { number, argument in
            let value = "$\(number + 1)::text"
            // A number of seconds is read alike whatever the time zone and the style of dates of a session are.
            return argument.type == "timestamptz"
                ? "\(argument.name) => to_timestamp(\(value)::float8)"
                : "\(argument.name) => \(value)::\(argument.type)"
        }
        text = "SELECT request_operations.add(\(list.joined(separator: ", ")))"
        parameters = arguments.map(\.value)
        omittedCredentials = draft.omitted
    }

    /// Bytes as PostgreSQL reads them.
    private static func hex(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\\x".utf8)
        text.reserveCapacity(2 * data.count + 2)
        for byte in data {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func seconds(_ date: Date) -> String? { date.storable.map { String($0.timeIntervalSince1970) } }

    /// An element of an array of texts.
    private static func element(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension OutboxStatement: CustomStringConvertible, OpaqueReflectable {
    /// The SQL without the parameters, which can hold data.
    public var description: String { text }
}
