import RequestOperations

/// What comes out of a descriptor, as it comes.
final class CapturedOutput: Sendable {
    private struct Waiter {
        let isSatisfied: @Sendable (Captured) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// What has come so far.
    struct Captured {
        fileprivate var bytes = Data()
        /// How many ends of lines.
        fileprivate(set) var lineCount = 0

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private struct State {
        var captured = Captured()
        var isAtEnd = false
        /// Whether a test that waits was told to stop.
        var isAbandoned = false
        var waiters: [Waiter] = []

        mutating func takeSatisfied() -> [Waiter] {
            let isOver = isAtEnd || isAbandoned
            let satisfied = waiters.filter { isOver || $0.isSatisfied(captured) }
            if !satisfied.isEmpty { waiters.removeAll { isOver || $0.isSatisfied(captured) } }
            return satisfied
        }
    }

    private let state = Locked(State())

    /// Reads to the end on a thread of its own, or to the first end of a line, and closes the handle then.
    init(of handle: FileHandle, closingAfterLine: Bool = false) {
        Thread { [state] in
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                // A terminal whose other end was closed gives an error, which is its end.
                let count = read(handle.fileDescriptor, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                let arrived = piece[..<max(count, 0)]
                let isAtEnd = count <= 0 || closingAfterLine && arrived.contains(UInt8(ascii: "\n"))
                if isAtEnd, closingAfterLine { try? handle.close() }
                let satisfied = state.withLock { state in
                    state.captured.bytes += arrived
                    state.captured.lineCount += arrived.count { $0 == UInt8(ascii: "\n") }
                    state.isAtEnd = isAtEnd
                    return state.takeSatisfied()
                }
                for waiter in satisfied { waiter.continuation.resume() }
                if isAtEnd { return }
            }
        }.start()
    }

    /// Waits until what has come satisfies a condition, nothing more comes, or the test's time is over, and returns it.
    func text(satisfying condition: @escaping @Sendable (Captured) -> Bool) async -> String {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.isAbandoned || state.isAtEnd || condition(state.captured) { return true }
                    state.waiters.append(Waiter(isSatisfied: condition, continuation: continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiters = state.withLock { state in
                state.isAbandoned = true
                return state.takeSatisfied()
            }
            for waiter in waiters { waiter.continuation.resume() }
        }
        return state.withLock(\.captured.text)
    }

    /// Waits for a number of lines, or the end.
    func text(lines count: Int) async -> String {
        await text(satisfying: { $0.lineCount >= count })
    }

    /// Waits for the end.
    var whole: String {
        get async { await text(satisfying: { _ in false }) }
    }
}
