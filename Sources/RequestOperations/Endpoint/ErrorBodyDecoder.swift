/// Makes an error from the body of a response whose status was refused: one closure, with a ready-made one.
///
/// The error becomes the ``RequestError/underlying`` of the ``RequestError``, which keeps its code, status and head. A body
/// that is longer than ``RequestConfiguration/errorBodyLimit``, or from which no error can be made, leaves it without one.
public struct ErrorBodyDecoder: Sendable {
    /// Makes the error of a body; `nil`, or an error out of it, if the body is none.
    public let decode: @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?

    /// Makes a decoder from its one function, which is called once for each refused response, on the Task of the
    /// operation, and should return soon.
    public init(_ decode: @escaping @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?) {
        self.decode = decode
    }

    /// An error from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - makeDecoder: Makes the decoder of each body. A `JSONDecoder` with its defaults if not given.
    public static func json<Failure: Error & Decodable>(
        _ type: Failure.Type, decoder makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ErrorBodyDecoder {
        ErrorBodyDecoder { _, body in try makeDecoder().decode(type, from: body) }
    }
}

extension ErrorBodyDecoder {
    /// The failure of an attempt with the error of its body as its cause, if the status was refused and there is such an
    /// error.
    func explained(_ error: any Error) -> any Error {
        guard var failure = error as? TransferFailure, let refusal = failure.error as? RequestError,
            refusal.code == .unacceptableStatus, let head = refusal.head ?? failure.head,
            // Of a longer body there is only a part, and a part makes no error.
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
