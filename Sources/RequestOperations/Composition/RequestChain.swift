extension AsynchronousOperation {
    /// A chain of this operation and one that is made from its value.
    ///
    /// ```swift
    /// let profile = URLRequestOperation(login, decoder: .json(Session.self)).then { session in
    ///     URLRequestOperation(profileRequest(of: session), decoder: .json(Profile.self))
    /// }
    /// queue.addOperation(profile)
    /// ```
    ///
    /// Add the chain to a queue and not its links; see ``RequestChain``.
    ///
    /// - Parameter makeNext: Makes the next operation; called once, when this one has succeeded.
    public final func then<Next: Sendable>(
        _ makeNext: @escaping @Sendable (Success) async throws -> AsynchronousOperation<Next>
    ) -> RequestChain<Next> {
        RequestChain(self, then: makeNext)
    }
}

/// Two operations, of which the second is made from the value of the first, as one operation.
///
/// Made by ``AsynchronousOperation/then(_:)``. A chain is an operation, so either link can be a chain again, to any depth:
/// they are run one after another, and none is kept when the next one has taken its value.
///
/// - The chain starts its links itself, on a queue of its own, each as soon as the dependencies of the link have finished.
///   The place that the chain has in your queue is theirs: what a link runs on that queue, a stage say, runs at once.
///   A first link that runs or has finished already is not started again: its value is taken. One that still waits in a
///   queue of yours is started by the chain; it stays in your queue until its turn comes there, and is found to be done.
/// - On Linux a link is added to a queue before its chain is, or not at all: Foundation's queue cannot take in an operation that
///   finishes meanwhile. An operation of another kind that depends on a first link starts when the link's own queue has come to
///   that; if ``AsynchronousOperation/isReady`` of a link was read that no queue has, it never does. Let it depend on the chain.
/// - A link that fails fails the chain with its error, and the next one is not made. So does an error out of the closure.
/// - Cancelling the chain cancels the link that runs, or was made and was about to; nothing is made or run afterwards. A
///   link that was cancelled cancels the chain.
/// - The task-local values of the place where the chain was made hold in the closure, and for the operation made in it.
// Unchecked as its superclass is: all state of this class is in `links`.
open class RequestChain<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let links: Locked<Links>

    private enum Links {
        case waits(first: any ChainLink, makeNext: @Sendable () async throws -> AsynchronousOperation<Value>)
        /// The first link runs; after that only what the function `run` holds is alive.
        case runs
    }

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - first: The first link.
    ///   - makeNext: Makes the second from the value of the first; called once, when that has succeeded.
    public init<First: Sendable>(
        _ first: AsynchronousOperation<First>,
        then makeNext: @escaping @Sendable (First) async throws -> AsynchronousOperation<Value>
    ) {
        links = Locked(.waits(first: first) { try await makeNext(first.value) })
        super.init()
    }

    deinit {
        releaseChain(of: takeLinks())
    }

    /// The work of the chain. Called by the superclass; not to be called or overridden.
    public final override func run() async throws -> Value {
        let starter = LinkStarter(for: OperationQueue.ofCurrentOperation, lentBy: RequestQueue.placeHolder)
        let next = try await next(by: starter)
        await next.runAsLink(by: starter)
        return try await next.value
    }

    /// Runs the first link and makes the next; the first is not held any more when this returns.
    private func next(by starter: LinkStarter) async throws -> AsynchronousOperation<Value> {
        let links = links.withLock { links in
            defer { links = .runs }
            return links
        }
        guard case .waits(let first, let makeNext) = links else {
            preconditionFailure("The superclass runs an operation once.")
        }
        await Self.runWithInnerLinks(first, by: starter)
        try Task.checkCancellation()
        return try await makeNext()
    }

    /// Runs the first link of a chain, of which again a chain may be the first link, and so on: from the innermost outwards,
    /// so that each finds its own first link finished. Were each to run the one inside it, ten thousand would run at once.
    private static func runWithInnerLinks(_ first: any ChainLink, by starter: LinkStarter) async {
        var links = [first]
        while let chain = links.last as? any Chain, let inner = chain.unstartedFirst { links.append(inner) }
        while let link = links.popLast() { await link.runAsLink(by: starter) }
    }

    /// The first link, if it would be run now were the chain started.
    fileprivate var unstartedFirst: (any ChainLink)? {
        guard !isCancelled, hasFinishedDependencies, case .waits(let first, _) = links.withLock({ $0 })
        else { return nil }
        return first
    }

    /// Its links do.
    final override var placeDemand: PlaceDemand { .none }

    override func takeDependencies() -> [Operation] {
        super.takeDependencies() + takeLinks()
    }

    private func takeLinks() -> [Operation] {
        let links = links.withLock { links in
            defer { links = .runs }
            return links
        }
        guard case .waits(let first, _) = links else { return [] }
        return [first]
    }
}

/// A chain, whatever its value.
private protocol Chain: ChainLink {
    var unstartedFirst: (any ChainLink)? { get }
}

extension RequestChain: Chain {}

/// What starts the links of one chain.
final class LinkStarter: Sendable {
    /// Where they are started.
    let queue = DispatchQueue(label: "RequestOperations.RequestChain")
    /// The queue in which the chain has a place, which is that of its links, too: what they run on that queue would wait
    /// for the chain otherwise, and the chain for it.
    let operationQueue: OperationQueue?
    /// Who may have lent the chain a place of that queue.
    let placeHolder: (any PlaceHolder)?

    init(for operationQueue: OperationQueue?, lentBy placeHolder: (any PlaceHolder)? = nil) {
        self.operationQueue = operationQueue
        self.placeHolder = placeHolder
    }
}

/// A link of a chain, whatever its value.
private protocol ChainLink: FinishAnnouncing, Sendable {
    func startWhenReady(by starter: LinkStarter)
}

extension AsynchronousOperation: ChainLink {}

extension ChainLink {
    /// Starts the link when it is ready, and returns when it has finished; cancels it when the Task is cancelled.
    ///
    /// It is started even if the Task was cancelled before: then it finishes without being run, and nobody waits for it for
    /// ever.
    fileprivate func runAsLink(by starter: LinkStarter) async {
        let finish = Answer<Void>()
        if Task.isCancelled { cancel() }
        startWhenReady(by: starter)
        subscribeToFinish { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The answer is never an error.
            _ = try? await finish.value
        } onCancel: {
            // Chains inside chains that all run are not cancelled by recursion.
            if self is any Chain { starter.queue.async { self.cancel() } } else { cancel() }
        }
    }
}
