import Foundation

extension ScriptedTransport {
    /// A transport whose script is the answers of a server. No byte passes through a socket. The server's log still has
    /// the requests, without their bodies.
    ///
    /// It checks ``ScriptedTransport`` against the expectations that do not concern connections. Only a response with a
    /// head and a body can be scripted. Any other response, such as a reset, fails the transfer.
    package static func answering(for server: LoopbackServer) -> ScriptedTransport {
        ScriptedTransport([
            .dynamic { request in
                let arrived = LoopbackServer.Request(scripted: request)
                server.core.advance { $0.requestArrived(arrived) }
                let answer = server.core.update { $0.nextAnswer(for: arrived.target) }
                return try .playing(answer.response(to: arrived).steps(for: arrived), method: arrived.method)
            }
        ])
    }
}

extension ScriptedTransport.Answer {
    fileprivate static func playing(_ steps: [LoopbackServer.Response.Step], method: String) throws -> Self {
        var status: Int?
        var fields: [(name: String, value: String)] = []
        var body = Data()
        var delay = Duration.zero
        for step in steps {
            switch step {
            case .head(let code, let sent):
                status = code
                fields = sent.map { ($0.name, $0.value) }
            case .bytes(let bytes): body.append(bytes)
            case .pattern(let count): body.append(Content.pattern(count))
            case .pause(let pause): delay += pause
            case .stall: return status.map { .stallBody(status: $0) } ?? .stall
            case .announceClose: continue
            case .decide, .informational, .repeatForever, .hold, .close, .reset, .verbatim:
                throw ConformanceFailure("A script has no word for \(step).")
            }
        }
        guard let status else { throw ConformanceFailure("The response has no head.") }
        if let coding = fields.firstIndex(where: { $0.name == "Transfer-Encoding" }) {
            fields.remove(at: coding)
            body = dechunked(body)
        }
        let hasBody = method != "HEAD" && status != 204 && status != 304
        let answer = Self.status(status, fields: fields, body: hasBody ? body : Data())
        return delay > .zero ? .delayed(delay, on: ContinuousClock(), answer) : answer
    }

    /// The content of a chunked body. The server has framed it correctly and without extensions.
    private static func dechunked(_ body: Data) -> Data {
        var rest = body[...]
        var content = Data()
        while let lineEnd = rest.firstIndex(of: UInt8(ascii: "\r")),
            let size = Int(String(decoding: rest[..<lineEnd], as: UTF8.self), radix: 16), size > 0
        {
            content.append(rest.dropFirst(lineEnd - rest.startIndex + 2).prefix(size))
            rest = rest.dropFirst(lineEnd - rest.startIndex + 2 + size + 2)
        }
        return content
    }
}

extension LoopbackServer.Request {
    /// Makes a request as it would have arrived, but without its body.
    fileprivate init(scripted request: URLRequest) {
        let components = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        let path = components?.percentEncodedPath ?? ""
        self.init(
            method: request.httpMethod ?? "GET",
            target: (path.isEmpty ? "/" : path) + (components?.percentEncodedQuery.map { "?" + $0 } ?? ""),
            fields: LoopbackServer.Fields(
                (request.allHTTPHeaderFields ?? [:]).map { LoopbackServer.Field(name: $0.key, value: $0.value) }),
            body: Data(), bodyByteCount: 0, bodyChecksum: LoopbackServer.Checksum().value, isBodyComplete: true,
            trailers: [:], connection: 0, instant: .now)
    }
}
