/// An object that is told what the requests of a ``RequestClient`` do.
///
/// The client holds it weakly. Its functions are called on the client's ``RequestClient/callbackQueue``, for one request in
/// the order of its steps, with the end last. A class of the main actor declares the functions `nonisolated`.
public protocol RequestObserver: AnyObject, Sendable {
    /// A request has made a step. Called for each step except the end. Does nothing by default.
    func submission(_ submission: Submission, didReport event: RequestEvent)

    /// A request, a batch, a chain or a group has ended. Called once. Does nothing by default.
    ///
    /// - Parameters:
    ///   - submission: What has ended. Its ``Submission/operation`` has the result.
    ///   - error: The error that it failed with, a `CancellationError` if it was cancelled. `nil` means success.
    func submission(_ submission: Submission, didEndWith error: (any Error)?)
}

extension RequestObserver {
    /// Does nothing.
    public func submission(_ submission: Submission, didReport event: RequestEvent) {}
    /// Does nothing.
    public func submission(_ submission: Submission, didEndWith error: (any Error)?) {}
}
