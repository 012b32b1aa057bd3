import Foundation

/// One accepted connection as a blocking stream of bytes, for the one thread that serves it.
///
/// Every call that waits also watches for the end that the peer may put to the connection, and throws it.
final class Wire {
    /// Called before the thread waits, with the bytes received and sent since it was last called.
    private let onWait: (_ received: Int, _ sent: Int) -> Void
    private let socket: Socket
    private var input: [UInt8] = []
    /// The first byte of `input` that nobody has taken.
    private var inputStart = 0
    private var output: [UInt8] = []
    private var uncountedReceived = 0
    private var uncountedSent = 0
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// How much a client may send ahead while the server does not read.
    private static let inputLimit = 1 << 16
    /// Output below this is gathered, so that a small response leaves in one packet.
    private static let outputLimit = 1 << 16

    init(_ socket: Socket, onWait: @escaping (_ received: Int, _ sent: Int) -> Void) {
        self.socket = socket
        self.onWait = onWait
    }

    deinit {
        scratch.deallocate()
    }

    /// The bytes received and sent since this or `onWait` was last called.
    func takeCounts() -> (received: Int, sent: Int) {
        defer { (uncountedReceived, uncountedSent) = (0, 0) }
        return (uncountedReceived, uncountedSent)
    }

    // MARK: Reading

    /// Whether bytes are there that nobody has taken.
    var hasInput: Bool { inputStart < input.count }

    /// The next line without its line end; nil if it is longer than `limit` bytes. A bare line feed ends a line too
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

    /// Reads exactly `count` bytes and hands them over in pieces.
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

    /// Queues bytes; sends them at once if they are many.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Interruption) {
        if output.count + bytes.count <= Wire.outputLimit {
            output.append(contentsOf: bytes)
            return
        }
        try flush()
        // The last piece waits for `flush`, as the end of a small response does.
        let ahead = max(0, bytes.count - Wire.outputLimit)
        try send(UnsafeRawBufferPointer(rebasing: bytes[..<ahead]))
        output.append(contentsOf: bytes[ahead...])
    }

    /// Queues bytes; sends them at once if they are many.
    func write(_ data: Data) throws(Interruption) {
        let outcome = data.withUnsafeBytes { bytes in
            Result { () throws(Interruption) in try write(bytes) }
        }
        try outcome.get()
    }

    /// Sends what is queued, waiting for as long as the peer does not read.
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

    /// Sends what is queued, then waits until `deadline` (nil: without end) or until `alarm` is readable.
    ///
    /// The peer's closing of its side counts as its end here: nobody is left to answer.
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

    /// Ends this side, so that the peer can read all that was sent.
    func finishSending() {
        socket.finishSending()
    }

    /// Reads and drops what still comes after `finishSending`, for two seconds at most. Closing a socket with unread bytes
    /// resets it, and a reset can destroy the end of a response on its way.
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

    /// Waits until the peer's system has all that was sent, then makes the end of the connection a reset. (A reset drops
    /// what has not arrived, and a test must know how much has.)
    func resetOnClose() throws(Interruption) {
        try flush()
        while socket.unacknowledgedByteCount > 0 {
            guard !wait(for: .hangUp, milliseconds: 1).contains(.hangUp) else { break }
        }
        socket.resetOnClose()
    }
}
