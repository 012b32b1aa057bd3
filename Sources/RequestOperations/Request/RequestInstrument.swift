/// What another module of this package learns of each request, such as one that traces or measures.
///
/// Each function is called where the step happens, outside all locks. That is mostly the Task of the operation. It must return
/// quickly.
package struct RequestInstrument: Sendable {
    /// Whether it reads ``Attempt/sentRequest`` and ``Attempt/head``. Without such an instrument nothing keeps them.
    package var keepsExchanges = false

    /// Changes the request of an attempt after all adapters and stages. Called once for each attempt, again if the attempt is
    /// processed again, and once for each hedge.
    ///
    /// It gets what happened so far. If the last attempt was sent, the request is that of a hedge beside it.
    package var prepare: (@Sendable (inout URLRequest, RequestTimeline) -> Void)?

    /// Called when an attempt has failed, unless the request was cancelled.
    package var attemptFailed: (@Sendable (AttemptFailure, RequestID) -> Void)?

    /// Called once when the operation has ended, if it had begun.
    package var ended: (@Sendable (RequestTimeline) -> Void)?

    package init() {}
}

extension Attempt {
    /// The request that was sent last. `nil` if no instrument keeps it.
    package var sentRequest: URLRequest? { hops.last?.request }

    /// The head of the last response. `nil` if there is none, or no instrument keeps it.
    package var head: ResponseHead? { hops.last?.head }
}

extension [RequestInstrument] {
    /// Lets them change a request. The timeline is made only if one of them does.
    func prepare(_ request: inout URLRequest, _ timeline: @autoclosure () -> RequestTimeline?) {
        let changes = compactMap(\.prepare)
        guard !changes.isEmpty, let timeline = timeline() else { return }
        for change in changes { change(&request, timeline) }
    }
}
