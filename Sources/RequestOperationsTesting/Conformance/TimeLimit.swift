/// Runs a function on a Task of its own. If it does not end within the limit, cancels it, leaves it behind and throws.
func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    let ended = Door()
    let task = Task {
        defer { ended.open() }
        try await body()
    }
    let endedInTime = await withTaskCancellationHandler {
        await ended.isOpen(within: limit)
    } onCancel: {
        task.cancel()
    }
    guard endedInTime else {
        task.cancel()
        throw ConformanceFailure("It had not ended after \(limit).")
    }
    try await task.value
}

/// Repeats what a busy machine may delay for once until it succeeds, five times at most. Throws what the last try threw.
package func oneOfFiveTries(_ body: () async throws -> Void) async throws {
    for _ in 1..<5 {
        if (try? await body()) != nil { return }
        try Task.checkCancellation()
    }
    try await body()
}

/// How long a function took.
func duration(of body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return start.duration(to: .now)
}
