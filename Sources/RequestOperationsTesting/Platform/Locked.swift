import Foundation

/// A value behind a lock.
///
/// `@unchecked Sendable`: the compiler cannot see that `value` is touched only while `lock` is held; `withLock` is the
/// only way to it.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` with exclusive access. Nothing that blocks, and no foreign code, belongs in it.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
