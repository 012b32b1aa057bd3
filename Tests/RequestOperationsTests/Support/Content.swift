import Foundation

@testable import RequestOperationsTesting

/// Bodies of the conformance suite, for tests that use no other internals of it.
enum Content {
    /// The bytes of `LoopbackServer.Response.large`.
    static func pattern(_ count: Int) -> Data { RequestOperationsTesting.Content.pattern(count) }

    /// 1 MiB of zeroes in about 1 KiB of the gzip coding.
    static let gzipBomb = RequestOperationsTesting.Content.gzipBomb
}

extension LoopbackServer.Response {
    /// Sends the first bytes of a pattern of `length`, and the rest when the gate opens.
    static func held(after first: Int, of length: Int, by gate: LoopbackServer.Gate) -> LoopbackServer.Response {
        .pattern(first, of: length, restAfter: gate)
    }

    /// "ok", of a server that takes no notice of `Connection: close`: it waits for the client to end the connection.
    static let ignoringClose = LoopbackServer.Response([
        .verbatim(Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)), .stall,
    ])
}
