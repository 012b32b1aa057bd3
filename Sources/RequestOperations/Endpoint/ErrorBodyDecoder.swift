/// Makes an error from the body of a response whose status is rejected. It is one closure; one is ready-made.
///
/// The error becomes the ``RequestError/underlying`` of the ``RequestError``, which keeps its code, status and head.
/// There is no such error if the body is longer than ``RequestConfiguration/errorBodyLimit``, or if no error can be
/// made from it.
public struct ErrorBodyDecoder: Sendable {
    /// Makes an error from a body. If the body holds no error, it returns `nil` or throws.
    public let decode: @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?

    /// Makes a decoder from one function.
    ///
    /// The function is called once for each rejected response, on the Task of the operation. It should return quickly.
    public init(_ decode: @escaping @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?) {
        self.decode = decode
    }

    /// An error from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - makeDecoder: Makes the decoder for each body. A `JSONDecoder` with its defaults if not given.
    public static func json<Failure: Error & Decodable>(
        _ type: Failure.Type, decoder makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ErrorBodyDecoder {
        ErrorBodyDecoder { _, body in try makeDecoder().decode(type, from: body) }
    }
}

extension ErrorBodyDecoder {
    /// Adds the error from the body as the cause of an attempt's failure. The failure stays as it is if the status was
    /// not rejected. If the body gives no error, the failure keeps its earlier cause.
    func explained(_ error: any Error) -> any Error {
        guard var failure = error as? TransferFailure, let refusal = failure.error as? RequestError,
            refusal.code == .unacceptableStatus, let head = refusal.head ?? failure.head,
            // Of a longer body only a part is kept, and a part cannot be decoded.
            failure.bodySize == failure.bodyPrefix.count
        else { return error }
        let cause: (any Error)?
        do { cause = try decode(head, failure.bodyPrefix) } catch { return failure }
        var explained = RequestError(
            refusal.code, stage: refusal.stage, underlying: cause ?? refusal.underlying, head: head,
            bodyPrefix: failure.bodyPrefix, reason: refusal.reason)
        explained.readProblem = refusal.readProblem
        explained.subject = refusal.subject
        failure.error = explained
        return failure
    }
}
