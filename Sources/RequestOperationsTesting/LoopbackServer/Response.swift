public import Foundation

extension LoopbackServer {
    /// The server's answer to one request: a list of steps.
    ///
    /// A factory makes it. Some factories take another response, such as `.delayed(.seconds(1), then: .status(503))`.
    ///
    /// Unless its factory says otherwise, a response leaves the connection open for the next request. The server
    /// carries it out after it has read the whole body of the request. It adds only these fields: `Content-Length` or
    /// `Transfer-Encoding`, and `Connection: close` if the connection ends after it. A `HEAD` request gets only the
    /// head, from any response. The statuses 204 and 304 have no body, so they also get only the head.
    public struct Response: Sendable {
        var steps: [Step]
        /// Whether the body of the request stays unread on the socket.
        var leavesBodyUnread = false

        init(_ steps: [Step]) {
            self.steps = steps
        }

        /// One action on the wire.
        enum Step: Sendable {
            /// The connection ends after this response. The head announces that.
            case announceClose
            /// An interim head (1xx), sent at once.
            case informational(Int, Fields)
            case head(Int, Fields)
            case bytes(Data)
            /// This number of bytes of the pattern, from its beginning.
            case pattern(Int)
            case repeatForever(Data)
            case pause(Duration)
            case stall
            case hold(Gate)
            case close
            case reset
            /// Bytes that are not a body. They are also sent for a `HEAD` request.
            case verbatim(Data)
            /// A response that depends on the request.
            case decide(@Sendable (Request) -> Response)
        }

        /// The steps for this request, with every decision made.
        func steps(for request: Request) -> [Step] {
            steps.flatMap { step in
                guard case .decide(let decision) = step else { return [step] }
                return decision(request).steps(for: request)
            }
        }

        /// This response after some steps.
        func preceded(by first: Step...) -> Response {
            var response = self
            response.steps.insert(contentsOf: first, at: 0)
            return response
        }

        /// A head and the steps of a body. It has the length of that body, unless `fields` or the status say otherwise.
        static func head(_ status: Int, _ fields: Fields, length: Int, _ body: [Step]) -> Response {
            var fields = fields
            if status != 204, status != 304, fields["Content-Length"] == nil, fields["Transfer-Encoding"] == nil {
                fields.append(name: "Content-Length", value: String(length))
            }
            return Response([.head(status, fields)] + body)
        }
    }
}

// MARK: Complete responses

extension LoopbackServer.Response {
    /// A status with fields and a body, both empty by default.
    public static func status(
        _ status: Int, fields: LoopbackServer.Fields = [:], body: Data = Data()
    ) -> LoopbackServer.Response {
        head(status, fields, length: body.count, [.bytes(body)])
    }

    /// 200 with a body. Its type is `application/octet-stream` by default.
    public static func body(
        _ body: Data, contentType: String = "application/octet-stream"
    ) -> LoopbackServer.Response {
        status(200, fields: ["Content-Type": contentType], body: body)
    }

    /// 200 with a text as `text/plain; charset=utf-8`.
    public static func text(_ text: String) -> LoopbackServer.Response {
        body(Data(text.utf8), contentType: "text/plain; charset=utf-8")
    }

    /// 200 with JSON, sent unchanged, as `application/json`.
    public static func json(_ json: String) -> LoopbackServer.Response {
        body(Data(json.utf8), contentType: "application/json")
    }

    /// A status, 204 by default, without a body.
    public static func empty(_ status: Int = 204) -> LoopbackServer.Response {
        .status(status)
    }

    /// A redirect, by default 302, to a location. The location is sent unchanged, absolute or relative.
    public static func redirect(to location: String, status: Int = 302) -> LoopbackServer.Response {
        .status(status, fields: ["Location": location])
    }

    /// 200 with a chunked body and trailer fields. Each piece is one chunk; empty pieces are left out.
    public static func chunked(
        _ pieces: [Data], fields: LoopbackServer.Fields = [:], trailers: LoopbackServer.Fields = [:]
    ) -> LoopbackServer.Response {
        var fields = fields
        fields.append(name: "Transfer-Encoding", value: "chunked")
        let chunks = pieces.filter { !$0.isEmpty }.map { Step.bytes(chunk($0)) }
        let end = "0\r\n" + trailers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        return LoopbackServer.Response([.head(200, fields)] + chunks + [.bytes(Data(end.utf8))])
    }

    /// 200 with a chunked body that stops before `rest` until a gate is opened. Each piece is one chunk.
    public static func chunked(
        _ first: [Data], then gate: LoopbackServer.Gate, _ rest: [Data], fields: LoopbackServer.Fields = [:]
    ) -> LoopbackServer.Response {
        var response = chunked(first + rest, fields: fields)
        // The head comes before the chunks. Empty pieces have none.
        response.steps.insert(.hold(gate), at: 1 + first.count { !$0.isEmpty })
        return response
    }

    /// 200 with a body of `byteCount` bytes that is made as it is sent, so 1 GiB costs no memory.
    ///
    /// The byte at offset *i* is *i* mod 251. So a test notices a piece that is lost, doubled or out of place.
    public static func large(byteCount: Int) -> LoopbackServer.Response {
        head(200, ["Content-Type": "application/octet-stream"], length: byteCount, [.pattern(byteCount)])
    }

    /// 200 with a chunked body that repeats `chunk` as fast as the client reads, until the client is gone.
    public static func endless(chunk: Data) -> LoopbackServer.Response {
        precondition(!chunk.isEmpty, "An endless body of empty chunks would be no body: an empty chunk is its end.")
        return LoopbackServer.Response([
            .head(200, ["Transfer-Encoding": "chunked"]), .repeatForever(self.chunk(chunk)),
        ])
    }

    /// Sends bytes unchanged, for malformed heads and anything that no other response can send. Also sent for `HEAD`.
    ///
    /// The connection stays open. `.closing(.raw(…))` ends it.
    public static func raw(_ bytes: Data) -> LoopbackServer.Response {
        LoopbackServer.Response([.verbatim(bytes)])
    }

    static func chunk(_ data: Data) -> Data {
        Data((String(data.count, radix: 16) + "\r\n").utf8) + data + Data("\r\n".utf8)
    }
}

// MARK: Responses around a response

extension LoopbackServer.Response {
    /// Waits, then answers. It notices at once if the client leaves during the wait.
    public static func delayed(_ delay: Duration, then response: LoopbackServer.Response) -> LoopbackServer.Response {
        response.preceded(by: .pause(delay))
    }

    /// Waits until `gate` is opened, then answers. It notices at once if the client leaves during the wait.
    public static func held(
        by gate: LoopbackServer.Gate, then response: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        response.preceded(by: .hold(gate))
    }

    /// Sends an interim head (100, 102 or 103) at once, then the response.
    public static func informational(
        _ status: Int, fields: LoopbackServer.Fields = [:], then response: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        response.preceded(by: .informational(status, fields))
    }

    /// Adds `Connection: close` to the head and closes the connection after the response.
    public static func closing(_ response: LoopbackServer.Response) -> LoopbackServer.Response {
        response.preceded(by: .announceClose)
    }

    /// Carries out the response as soon as the head of the request has arrived.
    ///
    /// It does not read the body and does not send `100 Continue`. A connection with an unread body is closed
    /// afterwards. Only a route can do that. A handler is called after the body has been read, so in a handler this is
    /// the response itself.
    public static func withoutReadingBody(_ response: LoopbackServer.Response) -> LoopbackServer.Response {
        var response = response
        response.leavesBodyUnread = true
        return response
    }

    /// Answers with a status, by default 417, as soon as the head has arrived.
    ///
    /// So a client that sent `Expect: 100-continue` learns that its body is not wanted. The same as
    /// `withoutReadingBody(.status(status))`.
    public static func rejectingExpectation(_ status: Int = 417) -> LoopbackServer.Response {
        withoutReadingBody(.status(status))
    }
}
