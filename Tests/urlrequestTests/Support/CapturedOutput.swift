import RequestOperations

/// What comes out of a descriptor, as it comes.
final class CapturedOutput: Sendable {
    private struct Waiter {
        let isSatisfied: @Sendable (String) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var bytes = Data()
        var isAtEnd = false
        var waiters: [Waiter] = []

        var text: String { String(decoding: bytes, as: UTF8.self) }

        mutating func takeSatisfied() -> [Waiter] {
            let text = waiters.isEmpty ? "" : text
            let satisfied = waiters.filter { isAtEnd || $0.isSatisfied(text) }
            waiters.removeAll { isAtEnd || $0.isSatisfied(text) }
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
                let arrived = piece[..<max(count, 0)]
                let isAtEnd = count <= 0 || closingAfterLine && arrived.contains(UInt8(ascii: "\n"))
                if isAtEnd, closingAfterLine { try? handle.close() }
                let satisfied = state.withLock { state in
                    state.bytes += arrived
                    state.isAtEnd = isAtEnd
                    return state.takeSatisfied()
                }
                for waiter in satisfied { waiter.continuation.resume() }
                if isAtEnd { return }
            }
        }.start()
    }

    /// Waits until what has come satisfies a condition, or nothing more comes, and returns it.
    func text(satisfying condition: @escaping @Sendable (String) -> Bool) async -> String {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.isAtEnd || condition(state.text) { return true }
                state.waiters.append(Waiter(isSatisfied: condition, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return state.withLock(\.text)
    }

    /// Waits for a number of lines, or the end.
    func text(lines count: Int) async -> String {
        await text(satisfying: { $0.utf8.count { $0 == UInt8(ascii: "\n") } >= count })
    }

    /// Waits for the end.
    var whole: String {
        get async { await text(satisfying: { _ in false }) }
    }
}
