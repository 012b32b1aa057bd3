public import Foundation

extension LoopbackServer.Response {
    /// 401 with a `Basic` challenge (RFC 7617) until a request has these credentials. That request then gets
    /// `response`.
    public static func requiringBasic(
        user: String, password: String, then response: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        let credentials = Data("\(user):\(password)".utf8).base64EncodedString()
        return requiring(
            scheme: "Basic", credentials: credentials, challenge: "Basic realm=\"loopback\", charset=\"UTF-8\"",
            then: response)
    }

    /// 401 with a `Bearer` challenge (RFC 6750) until a request has this token. That request then gets `response`.
    public static func requiringBearer(
        _ token: String, then response: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        requiring(scheme: "Bearer", credentials: token, challenge: "Bearer realm=\"loopback\"", then: response)
    }

    /// 200 with the request as JSON. It has `method`, `target`, `fields` (a list of objects with `name` and `value`, in
    /// order) and `byteCount` of the body. The body is in `body` if it is UTF-8, otherwise in `bodyBase64`.
    public static var echo: LoopbackServer.Response {
        LoopbackServer.Response([.decide { .json(RequestEcho(of: $0).json) }])
    }

    /// 200 with a representation that clients can request in parts (RFC 9110, section 14).
    ///
    /// A request with one satisfiable `Range` of bytes gets 206. A range beyond the end gets 416. Any other `Range`
    /// gets the whole. `If-Range` is compared with the strong `etag`, or with `lastModified` to the second. If it does
    /// not match, the whole is sent.
    public static func file(
        _ content: Data, contentType: String = "application/octet-stream", etag: String? = nil,
        lastModified: Date? = nil
    ) -> LoopbackServer.Response {
        let file = RangedFile(content: content, contentType: contentType, etag: etag, lastModified: lastModified)
        return LoopbackServer.Response([.decide { file.response(to: $0) }])
    }

    private static func requiring(
        scheme: String, credentials: String, challenge: String, then response: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        LoopbackServer.Response([
            .decide { request in
                let given = (request.field("Authorization") ?? "").split(separator: " ", maxSplits: 1)
                guard given.count == 2, given[0].lowercased() == scheme.lowercased(), given[1] == credentials else {
                    return .status(401, fields: ["WWW-Authenticate": challenge])
                }
                return response
            }
        ])
    }
}

/// A request as JSON.
private struct RequestEcho: Encodable {
    private struct Field: Encodable {
        let name: String
        let value: String
    }

    private let method: String
    private let target: String
    private let fields: [Field]
    private let byteCount: Int
    private let body: String?
    private let bodyBase64: String?

    init(of request: LoopbackServer.Request) {
        method = request.method
        target = request.target
        fields = request.fields.map { Field(name: $0.name, value: $0.value) }
        byteCount = request.bodyByteCount
        body = String(validating: request.body, as: UTF8.self)
        bodyBase64 = body == nil ? request.body.base64EncodedString() : nil
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The values are strings and an integer, so JSON can always hold them.
        return String(decoding: try! encoder.encode(self), as: UTF8.self)
    }
}
