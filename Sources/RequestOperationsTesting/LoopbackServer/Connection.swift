import Foundation

/// Serves one connection, request after request, on a thread of its own.
final class Connection {
    /// The longest request head, in bytes.
    private static let headLimit = 1 << 16

    private let id: Int
    private let wire: Wire
    private let core: ServerCore

    init(id: Int, socket: Socket, core: ServerCore) {
        self.id = id
        self.core = core
        wire = Wire(socket) { received, sent in
            core.update { $0.transferred(received: received, sent: sent, on: id) }
        }
    }

    /// Serves requests until the connection ends.
    func run() {
        do throws(Interruption) {
            while true { try serveRequest() }
        } catch {
            switch error {
            case .ended(let end): finish(end)
            case .refused(let status): refuse(status)
            }
        }
        core.update { $0.connectionReleased(id) }
    }

    private func serveRequest() throws(Interruption) {
        let head = try readHead()
        let instant = ContinuousClock.now
        guard let answer = core.update({ $0.requestBegan(target: head.target, on: id) }) else {
            throw .ended(.closedByServer)
        }
        let leavesBodyUnread = answer.leavesBodyUnread && head.framing != .none
        if head.expectsContinue, !leavesBodyUnread, !wire.hasInput {
            try write("HTTP/1.1 100 Continue\r\n\r\n")
            try wire.flush()
        }
        let request = try readBody(of: head, arrivedAt: instant, unread: leavesBodyUnread)
        try play(answer.response(to: request), to: request, closing: head.endsConnection || leavesBodyUnread)
    }

    // MARK: Reading

    private func readHead() throws(Interruption) -> RequestHead {
        var lines: [[UInt8]] = []
        var left = Connection.headLimit
        while true {
            guard let line = try wire.readLine(limit: left) else { throw .refused(status: 431) }
            left -= line.count + 2
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                return try RequestHead(lines: lines)
            }
            // Empty lines before a request are skipped (RFC 9112, section 2.2).
        }
    }

    /// Reads the body, unless it stays unread. Logs the request, even if its body breaks off.
    private func readBody(
        of head: RequestHead, arrivedAt instant: ContinuousClock.Instant, unread: Bool
    ) throws(Interruption) -> LoopbackServer.Request {
        var body = BodyReader(keepingUpTo: core.keptBodyLimit)
        var interruption: Interruption?
        if !unread {
            do throws(Interruption) {
                try body.read(head.framing, from: wire)
            } catch {
                interruption = error
            }
        }
        let request = LoopbackServer.Request(
            method: head.method, target: head.target, fields: head.fields, body: body.kept,
            bodyByteCount: body.checksum.byteCount, bodyChecksum: body.checksum.value,
            isBodyComplete: body.isComplete, trailers: body.trailers, connection: id, instant: instant)
        let counts = wire.takeCounts()
        core.advance { state in
            state.transferred(received: counts.received, sent: counts.sent, on: id)
            return state.requestArrived(request)
        }
        if let interruption { throw interruption }
        return request
    }

    // MARK: Answering

    private func play(
        _ response: LoopbackServer.Response, to request: LoopbackServer.Request, closing: Bool
    ) throws(Interruption) {
        var closes = closing
        var mayHaveBody = request.method != "HEAD"
        steps: for step in response.steps(for: request) {
            switch step {
            case .announceClose:
                closes = true
            case .informational(let status, let fields):
                try writeHead(status, fields)
                try wire.flush()
            case .head(let status, var fields):
                if closes { fields.append(name: "Connection", value: "close") }
                try writeHead(status, fields)
                mayHaveBody = mayHaveBody && status != 204 && status != 304
                if !mayHaveBody { break steps }
            case .bytes(let bytes), .verbatim(let bytes):
                try wire.write(bytes)
            case .pattern(let count):
                try writePattern(count)
            case .repeatForever(let bytes):
                try writeForever(bytes)
            case .pause(let duration):
                try wire.pause(until: .now + duration)
            case .hold(let gate):
                try wire.pause(until: nil, alarm: gate.alarm)
            case .stall:
                try wire.pause(until: nil)
            case .close:
                closes = true
                break steps
            case .reset:
                core.update { $0.responseEnds(on: id) }
                try wire.resetOnClose()
                throw .ended(.resetByServer)
            case .decide:
                preconditionFailure("steps(for:) leaves no decision open.")
            }
        }
        core.update { $0.responseEnds(on: id) }
        try wire.flush()
        if closes { throw .ended(.closedByServer) }
    }

    private func writeHead(_ status: Int, _ fields: LoopbackServer.Fields) throws(Interruption) {
        var head = "HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        try write(head + "\r\n")
    }

    private func writePattern(_ count: Int) throws(Interruption) {
        var left = count
        while left > 0 {
            // The block holds whole periods of the pattern. So each block continues where the one before it ended.
            let piece = Connection.pattern.prefix(left)
            try wire.write(piece)
            left -= piece.count
        }
    }

    private static let pattern = Data((0..<(251 * 256)).map { UInt8($0 % 251) })

    private func writeForever(_ bytes: Data) throws(Interruption) {
        precondition(!bytes.isEmpty, "Nothing can be repeated for ever without an end.")
        // One write of a few bytes takes as long as one write of many bytes. So we fill a block.
        var block = bytes
        while block.count <= Connection.blockSize / 2 { block.append(block) }
        while true { try wire.write(block) }
    }

    private static let blockSize = 1 << 16

    private func write(_ text: String) throws(Interruption) {
        try wire.write(Data(text.utf8))
    }

    // MARK: Ending

    private func refuse(_ status: Int) {
        do throws(Interruption) {
            try writeHead(status, ["Content-Length": "0", "Connection": "close"])
            try wire.flush()
            finish(.closedByServer)
        } catch {
            finish(.closedByServer)
        }
    }

    private func finish(_ end: LoopbackServer.ConnectionRecord.End) {
        if end == .closedByServer { wire.finishSending() }
        let counts = wire.takeCounts()
        core.advance { state in
            state.transferred(received: counts.received, sent: counts.sent, on: id)
            return state.connectionEnded(id, end, at: .now)
        }
        if end == .closedByServer { wire.drain() }
    }
}

extension ServerState.Answer {
    /// Whether the body stays unread. Only a response that is known before the body can do that.
    fileprivate var leavesBodyUnread: Bool {
        guard case .response(let response) = self else { return false }
        return response.leavesBodyUnread
    }

    func response(to request: LoopbackServer.Request) -> LoopbackServer.Response {
        switch self {
        case .response(let response): response
        case .handler(let handler): handler(request)
        }
    }
}
