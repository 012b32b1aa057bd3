/// Carries one attempt of a request over the network.
///
/// This package has two real transports, ``CurlTransport`` and ``URLSessionTransport``. `RequestOperationsTesting` has
/// a scripted transport, and a suite of expectations that every transport must meet. Write your own transport to send
/// requests by other means.
///
/// A transport does not retry, follow redirects or validate. The operation does that.
public protocol Transport: Sendable {
    /// Sends a request and reads its response.
    ///
    /// Called once for each hop of each attempt, on the Task of the operation.
    ///
    /// - Parameters:
    ///   - task: What to send, where the response body goes, the limits to keep (``TransportTask/effectiveLimits``),
    ///     and which servers to trust. If a transport cannot apply a task's ``TransportTask/trust``, it must fail with
    ///     ``RequestError/Code/unsupported`` and the phase `connect`. It must never go on without it.
    ///   - onHead: The transport must call this exactly once, before it delivers any byte of the body. If the Task was
    ///     cancelled before, the transport does not call it. The transport must call it on the Task that called
    ///     `perform`, never on a thread that serves other transfers, because it runs user code. The transport does not
    ///     report the heads of informational responses (1xx). If `onHead` throws, the response is rejected. The
    ///     transport then delivers nothing of the body. It reads on within ``TransferLimits/errorBodyLimit`` and
    ///     ``TransferLimits/errorBodyTimeLimit``, to keep the connection usable. Then it throws a ``TransferFailure``
    ///     whose `error` is the one that `onHead` threw.
    /// - Returns: The response, when its last byte has arrived and been delivered.
    /// - Throws: A ``TransferFailure``, or `CancellationError` if the Task was cancelled. After a cancel the transport
    ///   closes the connection (with HTTP/2 the stream) at once and sends nothing more. A transport may also throw a
    ///   failure whose `error` is a `CancellationError`. It tells an operation whose attempt ran out of time whether
    ///   the request may have been processed.
    func perform(
        _ task: TransportTask,
        onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse
}
