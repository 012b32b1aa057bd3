extension RetryingOperation {
    /// The steps of the operation from now on. The stream ends after ``RequestEvent/Step/ended(_:)``.
    ///
    /// ```swift
    /// for await event in operation.events { print(event) }
    /// ```
    ///
    /// Every call makes a stream of its own. A stream keeps the newest 256 steps that were not read yet, so a slow reader
    /// misses old steps but never the end. A stream of an operation that has ended has only its end. To drop a stream
    /// does not cancel the operation.
    public final var events: AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(256))
        let remove = listen { event in
            continuation.yield(event)
            if case .ended = event.step { continuation.finish() }
        }
        continuation.onTermination = { _ in remove() }
        return stream
    }
}

/// An operation that tells its steps.
protocol EventSource {
    var id: RequestID { get }

    /// Adds a listener for the steps from now on. One that comes after the end is told of the end. Returns what removes
    /// it.
    @discardableResult
    func listen(_ listener: @escaping @Sendable (RequestEvent) -> Void) -> @Sendable () -> Void

    /// Calls a closure each time that the operation begins to wait before its next attempt, or at once if it waits.
    func subscribeToRetries(_ body: @escaping @Sendable () -> Void)
}

extension RetryingOperation: EventSource {
    @discardableResult
    final func listen(_ listener: @escaping @Sendable (RequestEvent) -> Void) -> @Sendable () -> Void {
        let remove = runner.listen(listener)
        // An operation that ended without listeners has told nobody.
        switch state.withLock({ $0.lifecycle.ending }) {
        case nil: break
        case .succeeded: runner.emit(.ended(nil))
        case .failed(let error): runner.emit(.ended(error))
        }
        return remove
    }

    final func subscribeToRetries(_ body: @escaping @Sendable () -> Void) {
        let waits = Locked(ToldWaits())
        let tell: @Sendable (Int?) -> Void = { attempt in
            // The wait may begin while the subscription does. Then both tell it, and the second one finds it told.
            if let attempt, waits.withLock({ $0.isNews(attempt) }) { body() }
        }
        listen { [weak runner] event in
            switch event.step {
            case .attemptFailed(let failure): waits.withLock { $0.failed = failure.attempt }
            case .attemptBegan: waits.withLock { $0.failed = nil }
            case .waits: tell(waits.withLock { $0.failed } ?? runner?.attemptBeforeWait)
            default: break
            }
        }
        tell(runner.attemptBeforeWait)
    }
}

/// Which waits a subscription has told.
private struct ToldWaits {
    /// The attempt that failed last, unless another one runs. The wait after it may be over when its event comes.
    var failed: Int?
    private var last = 0

    /// Notes a wait after an attempt. Returns whether it is told for the first time.
    mutating func isNews(_ attempt: Int) -> Bool {
        defer { last = max(last, attempt) }
        return attempt > last
    }
}

extension RequestRunner {
    /// The number of the attempt that failed, while the request waits before its next attempt.
    fileprivate var attemptBeforeWait: Int? {
        if case .waiting(_, let failure) = requestState.withLock({ $0.phase }) { failure.attempt } else { nil }
    }
}
