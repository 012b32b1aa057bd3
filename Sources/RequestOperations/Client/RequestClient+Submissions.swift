/// Submitting, looking up and cancelling.
extension RequestClient {
    /// Adds an operation to the ``queue``: a request of this client, a batch, a chain or a group.
    ///
    /// ```swift
    /// let id = client.submit(client.operation(.get, "users", as: [User].self)) { result in show(result) }
    /// client.cancel(id)
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The operation, which must not be in a queue. After ``shutdown(draining:)`` it ends at once, as failed or
    ///     cancelled.
    ///   - tag: A name for cancelling several submissions together. A request of this client keeps the tag of its options.
    ///   - completion: Called with the result on the ``callbackQueue``, after all observers. Does nothing by default.
    /// - Returns: The identifier. It is valid until the operation has ended.
    @discardableResult
    public func submit<Value: Sendable>(
        _ operation: AsynchronousOperation<Value>, tag: String? = nil,
        whenFinished completion: (@Sendable (Result<Value, any Error>) -> Void)? = nil
    ) -> RequestID {
        let completion = completion.map { completion in
            { @Sendable in completion(operation.result ?? .failure(CancellationError())) }
        }
        return submit(operation, tag, whenFinished: completion)
    }

    // Disfavoured, because an operation of ours has a better function, with its result.

    /// Adds an operation of another class to the ``queue``, such as a `BlockOperation`.
    ///
    /// - Parameters:
    ///   - operation: The operation, which must not be in a queue. After ``shutdown(draining:)`` it is cancelled.
    ///   - tag: A name for cancelling several submissions together.
    /// - Returns: The identifier. It is valid until the operation has ended.
    @discardableResult
    @_disfavoredOverload
    public func submit(_ operation: Operation, tag: String? = nil) -> RequestID {
        submit(operation, tag, whenFinished: nil)
    }

    private func submit(_ operation: Operation, _ tag: String?, whenFinished completion: ClientCall.Call?) -> RequestID
    {
        let source = operation as? any EventSource
        if let own = source?.participant as? ClientCall, own.client === self {
            if let completion { operation.announceFinish { own.callBackAfterEnd(completion) } }
            start(operation, of: own)
            return own.submission.id
        }
        let submission = Submission(operation, id: source?.id ?? RequestID(), tag: tag)
        let call = ClientCall(of: self, submission, settings.withLock { $0 })
        note(call)
        if let completion { call.callBackAfterEnd(completion) }
        // The client itself does not need the result. So a Task that awaits the operation may stop waiting and cancel it.
        operation.announceFinish(wantsResult: completion != nil) { [weak operation] in
            call.ended(with: operation?.failureOfFinished)
            call.wasAnnounced()
        }
        start(operation, of: call)
        return submission.id
    }

    /// Adds an operation to the queue, or ends the operation after a shutdown.
    private func start(_ operation: Operation, of call: ClientCall) {
        if call.activate() { return queue.addOperation(operation) }
        guard call.isOfRequest, let request = operation as? any StartableOperation else { return operation.discard() }
        request.refuse(with: RequestError(.clientShutDown, stage: .process))
        request.startWhenReady(by: MemberStarter(for: nil))
    }

    /// Runs many operations as one; see ``RequestBatch``.
    ///
    /// - Parameters:
    ///   - operations: The members, which must not be in a queue.
    ///   - policy: What the failure of a member means. ``RequestBatch/Policy/failFast`` by default.
    ///   - maximumConcurrency: The most members that run at once. 64 by default.
    ///   - tag: A name for cancelling several submissions together.
    ///   - completion: Called with one result for each member, in their order, on the ``callbackQueue``. A member that did not
    ///     run has a `CancellationError`.
    /// - Returns: The identifier. Cancelling it cancels all members.
    @discardableResult
    public func batch<Value: Sendable>(
        _ operations: [AsynchronousOperation<Value>], policy: RequestBatch<Value>.Policy = .failFast,
        maximumConcurrency: Int = 64, tag: String? = nil,
        whenFinished completion: @escaping @Sendable ([Result<Value, any Error>]) -> Void = { _ in }
    ) -> RequestID {
        submit(RequestBatch(operations, policy: policy, maximumConcurrency: maximumConcurrency), tag: tag) { _ in
            completion(operations.map { $0.result ?? .failure(CancellationError()) })
        }
    }

    /// Runs a chain: a ``RequestChain``, made with ``AsynchronousOperation/then(_:)``, or a ``StepChain``.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - tag: A name for cancelling several submissions together.
    ///   - completion: Called with the result on the ``callbackQueue``.
    /// - Returns: The identifier. Cancelling it cancels the link that runs. Between two links, it prevents the next one.
    @discardableResult
    public func chain<Value: Sendable>(
        _ chain: AsynchronousOperation<Value>, tag: String? = nil,
        whenFinished completion: @escaping @Sendable (Result<Value, any Error>) -> Void = { _ in }
    ) -> RequestID { submit(chain, tag: tag, whenFinished: completion) }

    // MARK: Looking up

    /// The submissions that have not ended, oldest first. They include requests that the client made and nobody has submitted,
    /// while something refers to them.
    public var submissions: [Submission] {
        let calls = table.withLock { $0.calls }
        return calls.map(\.submission).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// The submission with an identifier. `nil` once it has ended.
    public func submission(_ id: RequestID) -> Submission? { table.withLock { $0.call(id) }?.submission }

    // MARK: Cancelling

    /// Cancels one submission in any state. Returns it, or `nil` if it has ended or is unknown.
    @discardableResult
    public func cancel(_ id: RequestID) -> Submission? { submission(id).flatMap { cancelAll(of: [$0]).first } }

    /// Cancels all submissions. Returns those that were cancelled.
    @discardableResult
    public func cancelAll() -> [Submission] { cancelAll(of: submissions) }

    /// Cancels all submissions with a tag. Returns those that were cancelled.
    @discardableResult
    public func cancelAll(tag: String) -> [Submission] { cancelAll(of: submissions.filter { $0.tag == tag }) }

    /// Cancels all requests to a host. Batches, chains and groups have no host, but their requests do. Returns those that were
    /// cancelled.
    ///
    /// - Parameter host: The name without a port. Its case is ignored.
    @discardableResult
    public func cancelAll(host: String) -> [Submission] {
        cancelAll(of: submissions.filter { $0.url?.host?.lowercased() == host.lowercased() })
    }

    /// Cancels the newest first. A batch is newer than its members, so it ends as cancelled and not by its policy.
    private func cancelAll(of submissions: [Submission]) -> [Submission] {
        let alive = submissions.filter { submission in
            submission.operation.map { !$0.isCancelled && !$0.isFinished } ?? false
        }
        for submission in alive.reversed() { submission.operation?.cancel() }
        // Some may have ended before.
        return alive.filter { $0.operation?.isCancelled ?? true }
    }

    // MARK: The end

    /// How the submissions of a client ended after its shutdown began.
    public struct ShutdownCounts: Sendable, Hashable {
        /// How many ended by themselves, as a success or a failure.
        public let finished: Int
        /// How many were cancelled: by the shutdown, during its wait, or earlier if they had not ended when it began.
        public let cancelled: Int
    }

    /// Shuts the client down. The client accepts no more work, waits for running work, and cancels the rest.
    ///
    /// A request that has not begun by now, and that nobody has submitted, fails as ``RequestError/Code/clientShutDown`` when it
    /// starts. Members of a submitted batch, chain or group can still begin while the client waits. Operations in the ``queue``
    /// that this client does not know go on.
    ///
    /// Finally, the client waits for the callbacks of all ended submissions: observers, the completions of
    /// ``submit(_:tag:whenFinished:)``, and the `whenFinished` closures of requests of this client. That wait has no limit, so do
    /// not block or suspend the ``callbackQueue`` until this function returns. The client waits 1 s for operations that do not
    /// end after they were cancelled.
    ///
    /// - Parameter limit: How long running work may go on, on the clock of the ``configuration``. Zero by default. Cancelling the
    ///   Task ends this wait and the wait for the callbacks.
    /// - Returns: The counts, which are the same for every call. They include members of batches, chains and groups.
    @discardableResult
    public func shutdown(draining limit: Duration = .zero) async -> ShutdownCounts {
        let (drained, ended) = (Answer<Void>(), Answer<Void>())
        if !table.withLock({ $0.drain(drained) }) {
            let alarm = configuration.requestClock.alarm(after: limit) { drained.resume(with: .success(())) }
            await drained.given()
            alarm.cancel()
        }
        let isIdle = table.withLock { $0.close(ended) }
        cancelAll()
        if !isIdle {
            // In a suspended queue an operation may never end, so that wait has a limit. The wait for callbacks has none.
            let limit = DeadlineHeap.shared.schedule(at: .now + .seconds(1)) { [table] in
                for answer in table.withLock({ $0.giveUp() }) { answer.resume(with: .success(())) }
            }
            await ended.given()
            DeadlineHeap.shared.cancel(limit)
        }
        return table.withLock { $0.counts }
    }
}

extension Answer<Void> {
    /// Waits until the answer is given, or the Task is cancelled.
    fileprivate func given() async {
        await withTaskCancellationHandler {
            // The answer is never an error.
            _ = try? await value
        } onCancel: {
            resume(with: .success(()))
        }
    }
}
