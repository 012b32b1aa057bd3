/// What another module of this package adds to a configuration to watch its requests, such as one that traces or measures.
///
/// A request that is watched keeps the requests and heads of its attempts.
package struct RequestInstrument: Sendable {
    /// Begins to watch one request. Called once for each operation, where it is made. So it sees the task-local values of
    /// that place.
    package let watch: @Sendable () -> RequestWatch

    package init(watch: @escaping @Sendable () -> RequestWatch) { self.watch = watch }
}

/// What watches one request.
///
/// Each function is called where the step happens, outside all locks. That is mostly the Task of the operation. It must return
/// quickly.
package struct RequestWatch: Sendable {
    /// Changes the request of an attempt after all adapters and stages. Called once for each attempt, again if the attempt is
    /// processed again, and once for each hedge. It gets what happened so far.
    ///
    /// Not called after the request was stopped. A hedge, or a stage that ignores a cancel, may call it at the same time as
    /// another function, and so even after ``ended``.
    package var prepare: (@Sendable (inout URLRequest, PreparedAttempt, RequestTimeline) -> Void)?

    /// Called when an attempt has failed, with what happened so far. Not called if the request was cancelled, or if its
    /// deadline ended the attempt.
    package var attemptFailed: (@Sendable (RequestTimeline) -> Void)?

    /// Called once when the operation has ended, if it had begun.
    package var ended: (@Sendable (RequestTimeline) -> Void)?

    package init() {}
}

/// An attempt whose request is prepared.
///
/// A hedge has the number after that of the attempt beside it. If it is not sent, the next attempt has its number.
package struct PreparedAttempt: Sendable, Hashable {
    package let number: Int
    package let isHedge: Bool

    package init(_ number: Int, isHedge: Bool = false) { (self.number, self.isHedge) = (number, isHedge) }
}

extension Attempt {
    /// The request that was sent last. `nil` if no instrument watches.
    package var sentRequest: URLRequest? { hops.last?.request }

    /// The head of the last response. `nil` if there is none, or no instrument watches.
    package var head: ResponseHead? { hops.last?.head }
}

extension RequestRunner {
    /// Lets the watches change a request, unless the request was stopped. Then nothing is sent.
    func prepare(_ request: inout URLRequest, of attempt: PreparedAttempt) {
        let changes = watches.compactMap(\.prepare)
        guard !changes.isEmpty,
            let timeline = requestState.withLock({ $0.isStopped ? nil : $0.timeline(of: id, .running) })
        else { return }
        for change in changes { change(&request, attempt, timeline) }
    }

    /// Tells the watches that an attempt has failed.
    func watchFailure() {
        let watches = watches.compactMap(\.attemptFailed)
        guard !watches.isEmpty, let timeline = timeline(.running) else { return }
        for watch in watches { watch(timeline) }
    }
}
