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
        let told = Locked(0)
        let tell: @Sendable () -> Void = { [weak runner] in
            // The wait may begin while the subscription does. Then both tell it, and the second one finds it told.
            guard let attempt = runner?.attemptBeforeWait else { return }
            let isNews = told.withLock { last in
                defer { last = attempt }
                return attempt > last
            }
            if isNews { body() }
        }
        listen { if case .waits = $0.step { tell() } }
        tell()
    }
}

extension RequestRunner {
    /// The number of the attempt that failed, while the request waits before its next attempt.
    fileprivate var attemptBeforeWait: Int? {
        if case .waiting(_, let failure) = requestState.withLock({ $0.phase }) { failure.attempt } else { nil }
    }
}
