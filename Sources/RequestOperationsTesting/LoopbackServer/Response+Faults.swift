public import Foundation

// If a response is not given bytes, its body is that of `large`: the byte at offset i is i mod 251.
extension LoopbackServer.Response {
    /// Reads the request and never answers. The connection stays open until the client leaves or the server is stopped.
    public static var stall: LoopbackServer.Response {
        LoopbackServer.Response([.stall])
    }

    /// 200 and `count` bytes of a body of `length`, then nothing more. The connection stays open.
    public static func stallBody(after count: Int, of length: Int) -> LoopbackServer.Response {
        head(200, [:], length: length, [.pattern(count), .stall])
    }

    /// 200 with a body sent in pieces of `chunk` bytes, one at once and one after each `interval`.
    public static func drip(_ body: Data, chunk: Int, every interval: Duration) -> LoopbackServer.Response {
        precondition(chunk > 0, "A body cannot be sent in pieces of no bytes.")
        let pieces = stride(from: 0, to: body.count, by: chunk).flatMap { offset -> [Step] in
            let piece = body.dropFirst(offset).prefix(chunk)
            return offset == 0 ? [.bytes(piece)] : [.pause(interval), .bytes(piece)]
        }
        return head(200, [:], length: body.count, pieces)
    }

    /// 200 with a `Content-Length` of `declared` and a body of only `count` bytes. Then the connection ends in order.
    public static func truncated(declared: Int, sending count: Int) -> LoopbackServer.Response {
        head(200, [:], length: declared, [.pattern(count), .close])
    }

    /// 200 with a chunked body whose second chunk breaks off. The connection ends in order after the five bytes `first`
    /// and three of the six bytes `second`.
    public static var truncatedChunked: LoopbackServer.Response {
        LoopbackServer.Response([
            .head(200, ["Transfer-Encoding": "chunked"]), .bytes(chunk(Data("first".utf8))),
            .bytes(Data("6\r\nsec".utf8)), .close,
        ])
    }

    /// 200 with a `Content-Length` that differs from the length of the body.
    ///
    /// If it is longer, the client waits for bytes that never come. If it is shorter, the rest of the body comes before
    /// the next response. The connection stays open.
    public static func contentLength(declared: Int, body: Data) -> LoopbackServer.Response {
        head(200, [:], length: declared, [.bytes(body)])
    }

    /// How a response ends before its last byte.
    public enum Ending: Sendable, Hashable, CaseIterable {
        /// The connection ends in order.
        case close
        /// The connection is reset (RST) as soon as the client's system has the bytes before.
        case reset
        /// Nothing more is sent. The connection stays open.
        case stall
    }

    /// Another response that breaks off after `count` bytes of its body. Its head stays as it is.
    ///
    /// - Parameters:
    ///   - response: The response, which may depend on the request.
    ///   - count: How many bytes of its body are sent. If it has fewer, the connection ends after them.
    ///   - ending: How the response ends after them. The connection ends in order by default.
    public static func brokenOff(
        _ response: LoopbackServer.Response, after count: Int, by ending: Ending = .close
    ) -> LoopbackServer.Response {
        LoopbackServer.Response([
            .decide { request in
                var left = count
                let steps = response.steps(for: request).map { step -> Step in
                    switch step {
                    case .bytes(let bytes):
                        let sent = bytes.prefix(left)
                        left -= sent.count
                        return .bytes(sent)
                    case .pattern(let length):
                        let sent = min(length, left)
                        left -= sent
                        return .pattern(sent)
                    default:
                        return step
                    }
                }
                switch ending {
                case .close: return LoopbackServer.Response(steps + [.close])
                case .reset: return LoopbackServer.Response(steps + [.reset])
                case .stall: return LoopbackServer.Response(steps + [.stall])
                }
            }
        ])
    }

    /// Reads the request, then resets the connection (RST) before any byte of an answer.
    public static var reset: LoopbackServer.Response {
        LoopbackServer.Response([.reset])
    }

    /// 200 and `count` bytes of a body of `length`, then a reset (RST) as soon as the client's system has those bytes.
    public static func resetBody(after count: Int, of length: Int) -> LoopbackServer.Response {
        head(200, [:], length: length, [.pattern(count), .reset])
    }

    /// Reads the request, then closes the connection in order, without a byte of an answer.
    public static var closeWithoutAnswer: LoopbackServer.Response {
        LoopbackServer.Response([.close])
    }
}
