import Foundation
import RequestOperations

/// What is about to be added: the content, and its body where the caller has it.
struct Draft: Sendable {
    var content: StoredContent
    var body: StoredBody
    /// The fields that held credentials and were left out.
    var omitted: [String] = []

    /// Makes a draft of a request. Credentials are left out unless the options allow them.
    ///
    /// - Throws: ``OfflineQueueError/Code/unusableRequest`` if there is no URL.
    init(_ request: URLRequest, _ options: OfflineOptions) throws {
        guard var url = request.url else { throw OfflineQueueError(.unusableRequest) }
        var fields = request.allHTTPHeaderFields ?? [:]
        if !options.storesCredentials {
            for name in fields.keys.sorted() where Redaction.default.hides(field: name) {
                fields[name] = nil
                omitted.append(name)
            }
            if let plain = url.withoutUser {
                url = plain
                omitted.append("URL")
            }
        }
        let ownKey = request.value(forHTTPHeaderField: IdempotencyKey.field)
        content = StoredContent(
            method: request.httpMethod ?? "GET", url: url, fields: fields,
            // 60 s is Foundation's default, which the configuration replaces.
            timeout: request.timeoutInterval == 60 ? nil : request.timeoutInterval,
            constraints: options.constraints.map(\.name).sorted(), userInfo: options.userInfo,
            idempotencyKey: ownKey ?? IdempotencyKey.new())
        body = request.httpBody.map(StoredBody.data) ?? .none
    }

    /// Makes a draft of a message.
    init(message: String, payload: Data, _ options: OfflineOptions) {
        content = StoredContent(
            message: message, constraints: options.constraints.map(\.name).sorted(), userInfo: options.userInfo,
            idempotencyKey: IdempotencyKey.new())
        body = .data(payload)
    }
}

/// How a kind of content becomes a draft, and comes back from a record.
struct ContentCodec<Content: Sendable>: Sendable {
    let encode: @Sendable (Content) throws -> Draft
    let decode: @Sendable (StoredRecord) async throws -> Content
}

extension StoredRecord {
    /// The request with its body in memory.
    func wholeRequest() async throws -> URLRequest {
        guard var request = content.request else { throw OfflineQueueError(.unusableRequest) }
        if body != .none { request.httpBody = try await body.payload() }
        return request
    }
}

extension URL {
    /// The URL without user and password; `nil` if it has none.
    fileprivate var withoutUser: URL? {
        guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return nil
        }
        parts.user = nil
        parts.password = nil
        return parts.url
    }
}
