/// Carries one attempt of a request over the network.
///
/// Two real transports exist, ``CurlTransport`` and ``URLSessionTransport``; `RequestOperationsTesting` has a scripted
/// one, and a suite of expectations that every transport must meet. Write your own to send requests by other means.
///
/// A transport does not retry, does not follow redirects, does not validate: the operation does.
public protocol Transport: Sendable {
    /// Sends a request and reads its response.
    ///
    /// Called once for each hop of each attempt, on the Task of the operation.
    ///
    /// - Parameters:
    ///   - task: What to send, where the response body goes, the limits to keep (``TransportTask/effectiveLimits``), and
    ///     whom to trust. A transport that cannot keep to a task's ``TransportTask/trust`` fails as
    ///     ``RequestError/Code/unsupported``, with the phase `connect`; it never goes on without.
    ///   - onHead: To be called exactly once (not at all when the Task was cancelled before), before any byte of the body is
    ///     delivered, on the Task that called `perform` and never on a thread that serves other transfers: it runs user code.
    ///     Heads of informational responses (1xx) are not reported. If it throws, the response is rejected: nothing of the
    ///     body is delivered, the transport reads on within ``TransferLimits/errorBodyLimit`` and
    ///     ``TransferLimits/errorBodyTimeLimit`` to keep the connection usable, and throws a ``TransferFailure`` whose
    ///     `error` is the one that `onHead` threw.
    /// - Returns: The response, when its last byte has arrived and been delivered.
    /// - Throws: A ``TransferFailure``, or `CancellationError` if the Task was cancelled; then the connection (with HTTP/2
    ///   the stream) is closed at once and nothing more is sent. A failure whose `error` is a `CancellationError` is as
    ///   good, and tells an operation whose attempt ran out of time whether the request may have been processed.
    func perform(
        _ task: TransportTask,
        onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse
}

/// A transport of this package. What it does is known: it runs nothing on an operation queue.
protocol BuiltInTransport: Transport {}
