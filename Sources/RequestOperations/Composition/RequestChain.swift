extension AsynchronousOperation {
    /// Makes a chain of this operation and one that is made from its value.
    ///
    /// ```swift
    /// let profile = URLRequestOperation(login, decoder: .json(Session.self)).then { session in
    ///     URLRequestOperation(profileRequest(of: session), decoder: .json(Profile.self))
    /// }
    /// queue.addOperation(profile)
    /// ```
    ///
    /// Add the chain to a queue, not its links; see ``RequestChain``.
    ///
    /// - Parameter makeNext: Makes the next operation. It is called once, when this one has succeeded.
    public final func then<Next: Sendable>(
        _ makeNext: @escaping @Sendable (Success) async throws -> AsynchronousOperation<Next>
    ) -> RequestChain<Next> {
        RequestChain(self, then: makeNext)
    }
}

/// Two operations that run as one. The second is made from the value of the first.
///
/// ``AsynchronousOperation/then(_:)`` makes a chain. A chain is an operation, so each link can be a chain too, to any
/// depth. The links run one after another. A link is released when the next one has its value.
///
/// - The chain starts its links itself, on its own queue, each as soon as the link's dependencies have finished. The
///   links use the place that the chain has in your queue. So an operation that a link runs on that queue, for example
///   in a stage, runs at once. A first link that already runs or has finished is not started again; the chain takes its
///   value. A first link that still waits in a queue of yours is started by the chain. It stays in your queue until its
///   turn, and the queue then finds it finished.
/// - On Linux, add a link to a queue before you add its chain, or not at all. Foundation's queue cannot take in an
///   operation that finishes meanwhile. If an operation of another kind depends on a first link, it starts when the
///   link's own queue has reached the link. It never starts if no queue has the link and
///   ``AsynchronousOperation/isReady`` of the link was read. Let that operation depend on the chain instead.
/// - A link that fails makes the chain fail with its error, and the next link is not made. An error thrown by the
///   closure does the same.
/// - Cancelling the chain cancels the link that runs, or that is about to run. No further link is made or run. A first link that
///   has not begun is cancelled too, unless a queue has it. A link that was cancelled cancels the chain.
/// - The closure, and the operation made in it, see the task-local values of the place where the chain was made.
// Unchecked like its superclass. All state of this class is in `links`.
open class RequestChain<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let links: Locked<Links>
    /// Made when somebody asks for it.
    private let counter = Locked<OperationProgress?>(nil)

    private enum Links {
        case waits(first: any StartableOperation, makeNext: @Sendable () async throws -> AsynchronousOperation<Value>)
        /// The first link runs. From now on, only the function `run` keeps it alive.
        case runs
    }

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - first: The first link.
    ///   - makeNext: Makes the second link from the value of the first. It is called once, when the first has
    ///     succeeded.
    public init<First: Sendable>(
        _ first: AsynchronousOperation<First>,
        then makeNext: @escaping @Sendable (First) async throws -> AsynchronousOperation<Value>
    ) {
        links = Locked(.waits(first: first) { try await makeNext(first.value) })
        super.init()
    }

    deinit {
        releaseChain(of: takeFirst())
    }

    /// Counts the links that have ended. A first link that is a chain too counts as its own links, to any depth. Cancelling the
    /// progress cancels the chain.
    ///
    /// The link that runs is a child, so `fractionCompleted` follows the bytes of its request. Ask for the progress before the
    /// chain starts. It does not count links that ended before.
    public final var progress: Progress { knownCounter.tree { [weak self] in self?.cancel() } }

    /// How many links have ended, and how far the one that runs has come, at each change. A slow reader gets only the newest
    /// update. The stream ends with the chain, and its last element is the final count. Each access makes its own stream.
    public final var progressUpdates: AsyncStream<ProgressUpdate> { knownCounter.updates }

    private var knownCounter: OperationProgress {
        let count = withInnerLinks.count
        let known = counter.withLock { counter in
            let known = counter ?? OperationProgress(ProgressState(ofMembers: count))
            counter = known
            return known
        }
        // The chain may have ended before somebody asked.
        if let ending = state.withLock({ $0.ending }) { Self.end(known, after: ending) }
        return known
    }

    private static func end(_ counter: OperationProgress, after ending: OperationLifecycle.Ending) {
        counter.change { state in
            if case .succeeded = ending { state.succeed() }
            state.end()
        }
    }

    /// Runs a link. Counts it if somebody has asked for the progress.
    private func runLink(_ link: any StartableOperation, by starter: MemberStarter) async {
        guard let counter = counter.withLock({ $0 }) else { return await link.runAsLink(by: starter) }
        await counter.count(link) { await link.runAsLink(by: starter) }
    }

    /// The work of the chain. The superclass calls this; do not call or override it.
    public final override func run() async throws -> Value {
        let starter = MemberStarter.ofCurrentOperation
        let next = try await next(by: starter)
        await runLink(next, by: starter)
        return try await next.value
    }

    /// Runs the first link and makes the next one. When this returns, the first link is no longer held.
    private func next(by starter: MemberStarter) async throws -> AsynchronousOperation<Value> {
        guard case .waits(let first, let makeNext) = takeLinks() else {
            preconditionFailure("The superclass runs an operation once.")
        }
        // If that is a chain too, its own first link runs before it, and so on, from the innermost outwards. So each chain finds
        // its first link finished. If each chain ran the one inside it, ten thousand could run at once.
        var links = first.withInnerLinks
        while let link = links.popLast() { await runLink(link, by: starter) }
        try Task.checkCancellation()
        return try await makeNext()
    }

    /// The first link, if the chain would run it when started now.
    var unstartedFirst: (any StartableOperation)? {
        guard state.withLock({ $0.mayRun }), case .waits(let first, _) = links.withLock({ $0 })
        else { return nil }
        return first
    }

    /// None, because the links of the chain take the places.
    final override var takesPlace: Bool { false }

    override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        if let counter = counter.withLock({ $0 }) { Self.end(counter, after: ending) }
        // A chain that did not begin ends its first link, unless something else may run that.
        if case .waits(let first, _) = links.withLock({ $0 }), first.claim() { first.discard() }
    }

    override func takeDependencies() -> [Operation] {
        super.takeDependencies() + takeFirst()
    }

    private func takeFirst() -> [Operation] {
        if case .waits(let first, _) = takeLinks() { [first] } else { [] }
    }

    private func takeLinks() -> Links {
        links.withLock { links in
            defer { links = .runs }
            return links
        }
    }
}

/// A chain with any type of value.
protocol Chain: StartableOperation {
    var unstartedFirst: (any StartableOperation)? { get }
}

extension RequestChain: Chain {}

extension StartableOperation {
    /// The operation and, if it is a chain, the first links that have not begun: its own, that of this link, and so on.
    fileprivate var withInnerLinks: [any StartableOperation] {
        var links: [any StartableOperation] = [self]
        while let chain = links.last as? any Chain, let inner = chain.unstartedFirst { links.append(inner) }
        return links
    }
}
