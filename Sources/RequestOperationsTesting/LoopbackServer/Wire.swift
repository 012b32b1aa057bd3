import Foundation

/// One accepted connection as a blocking stream of bytes, for the one thread that serves it.
///
/// Every call that waits also watches whether the peer ends the connection. It throws that end.
final class Wire {
    /// Called before the thread waits, with the bytes received and sent since the last call.
    private let onWait: (_ received: Int, _ sent: Int) -> Void
    private let socket: Socket
    private var input: [UInt8] = []
    /// The first byte of `input` that has not been taken.
    private var inputStart = 0
    private var output: [UInt8] = []
    private var uncountedReceived = 0
    private var uncountedSent = 0
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// How many bytes a client may send ahead while the server does not read.
    private static let inputLimit = 1 << 16
    /// Less output than this is collected first, so that a small response goes out in one packet.
    private static let outputLimit = 1 << 16

    init(_ socket: Socket, onWait: @escaping (_ received: Int, _ sent: Int) -> Void) {
        self.socket = socket
        self.onWait = onWait
    }

    deinit {
        scratch.deallocate()
    }

    /// The bytes received and sent since the last call of this or of `onWait`.
    func takeCounts() -> (received: Int, sent: Int) {
        defer { (uncountedReceived, uncountedSent) = (0, 0) }
        return (uncountedReceived, uncountedSent)
    }

    // MARK: Reading

    /// Whether there are bytes that have not been taken.
    var hasInput: Bool { inputStart < input.count }

    /// The next line without its line end; nil if it is longer than `limit` bytes. A bare line feed also ends a line
    /// (RFC 9112, section 2.2).
    func readLine(limit: Int) throws(Interruption) -> [UInt8]? {
        var searched = inputStart
        while true {
            if let feed = input[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                guard feed - inputStart <= limit else { return nil }
                var line = input[inputStart..<feed]
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                inputStart = feed + 1
                return Array(line)
            }
            guard input.count - inputStart <= limit else { return nil }
            let taken = inputStart
            let known = input.count
            try fillInput()
            searched = known - taken
        }
    }

    /// Reads exactly `count` bytes and passes them on in pieces.
    func readBytes(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws(Interruption) {
        var remaining = count
        if hasInput, remaining > 0 {
            let piece = min(remaining, input.count - inputStart)
            input.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[inputStart..<(inputStart + piece)])) }
            inputStart += piece
            remaining -= piece
        }
        while remaining > 0 {
            let piece = try receive(atMost: remaining)
            body(UnsafeRawBufferPointer(rebasing: scratch[..<piece]))
            remaining -= piece
        }
    }

    private func fillInput() throws(Interruption) {
        let count = try receive(atMost: scratch.count)
        input.removeFirst(inputStart)
        inputStart = 0
        input.append(contentsOf: scratch[..<count])
    }

    /// Waits for bytes and puts them into `scratch`.
    private func receive(atMost limit: Int) throws(Interruption) -> Int {
        while true {
            switch socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<min(limit, scratch.count)]))
            {
            case .bytes(let count):
                uncountedReceived += count
                return count
            case .wouldBlock:
                try flush()
                wait(for: .readable)
            case .finished: throw .ended(.closedByPeer)
            case .reset: throw .ended(.resetByPeer)
            }
        }
    }

    // MARK: Writing

    /// Queues bytes, and sends them at once if there are many.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Interruption) {
        if output.count + bytes.count <= Wire.outputLimit {
            output.append(contentsOf: bytes)
            return
        }
        try flush()
        // The last piece waits for `flush`, like the end of a small response.
        let ahead = max(0, bytes.count - Wire.outputLimit)
        try send(UnsafeRawBufferPointer(rebasing: bytes[..<ahead]))
        output.append(contentsOf: bytes[ahead...])
    }

    /// Queues bytes, and sends them at once if there are many.
    func write(_ data: Data) throws(Interruption) {
        let outcome = data.withUnsafeBytes { bytes in
            Result { () throws(Interruption) in try write(bytes) }
        }
        try outcome.get()
    }

    /// Sends the queued bytes. Waits as long as the peer does not read.
    func flush() throws(Interruption) {
        guard !output.isEmpty else { return }
        let bytes = output
        output.removeAll(keepingCapacity: true)
        let outcome = bytes.withUnsafeBytes { bytes in
            Result { () throws(Interruption) in try send(bytes) }
        }
        try outcome.get()
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(Interruption) {
        var offset = 0
        while offset < bytes.count {
            switch socket.send(UnsafeRawBufferPointer(rebasing: bytes[offset...])) {
            case .bytes(let count):
                offset += count
                uncountedSent += count
            case .wouldBlock: wait(for: .writable)
            case .finished: throw .ended(.closedByPeer)
            case .reset: throw .ended(.resetByPeer)
            }
        }
    }

    // MARK: Waiting

    /// Sends the queued bytes, then waits until `deadline` (nil: without end) or until `alarm` is readable.
    ///
    /// If the peer closes its side, that counts as the end here, since there is no one left to answer.
    func pause(until deadline: ContinuousClock.Instant?, alarm: Socket? = nil) throws(Interruption) {
        try flush()
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                guard left > .zero else { return }
                milliseconds = Int32(min((left / .milliseconds(1)).rounded(.up), 1_000_000))
            }
            let mayRead = input.count - inputStart < Wire.inputLimit
            let found = wait(for: mayRead ? [.readable, .hangUp] : .hangUp, alarm: alarm, milliseconds: milliseconds)
            if mayRead, !found.isDisjoint(with: [.readable, .hangUp]) {
                try fillInput()
            } else if found.contains(.hangUp) {
                throw .ended(socket.wasReset ? .resetByPeer : .closedByPeer)
            } else if found.contains(.alarm) {
                return
            }
        }
    }

    @discardableResult
    private func wait(
        for interest: Socket.Readiness, alarm: Socket? = nil, milliseconds: Int32 = -1
    ) -> Socket.Readiness {
        let counts = takeCounts()
        if counts.received > 0 || counts.sent > 0 { onWait(counts.received, counts.sent) }
        return socket.wait(for: interest, alarm: alarm, milliseconds: milliseconds)
    }

    // MARK: Ending

    /// Ends this side. The peer can still read all that was sent.
    func finishSending() {
        socket.finishSending()
    }

    /// Reads and drops what still comes after `finishSending`, for at most two seconds. Closing a socket with unread
    /// bytes resets it. A reset can destroy the end of a response that is still on its way.
    func drain() {
        let deadline = ContinuousClock.now + .seconds(2)
        while true {
            switch socket.receive(into: scratch) {
            case .bytes where ContinuousClock.now < deadline: continue
            case .wouldBlock:
                let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
                guard left > 0, socket.wait(for: .readable, milliseconds: Int32(left.rounded(.up))) != [] else {
                    return
                }
            default: return
            }
        }
    }

    /// Waits until the peer's system has all that was sent, then makes the end of the connection a reset. (A reset
    /// drops bytes that have not arrived, and a test must know how many have.)
    func resetOnClose() throws(Interruption) {
        try flush()
        while socket.unacknowledgedByteCount > 0 {
            guard !wait(for: .hangUp, milliseconds: 1).contains(.hangUp) else { break }
        }
        socket.resetOnClose()
    }
}
