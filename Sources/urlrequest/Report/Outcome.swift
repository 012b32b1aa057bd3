import RequestOperations

/// What became of one request.
struct Outcome: Sendable {
    /// Why a request failed.
    struct Failure: Sendable, Equatable {
        /// The name of the error's code.
        let code: String
        /// One line, without credentials.
        let message: String

        /// The failure of a request that was in flight, or waiting, when the run was ended.
        static let cancelled = Failure(code: "cancelled", message: "the run was ended")
    }

    /// The number of the argument or line, from 1.
    let id: Int

    /// The URL that was asked for.
    let url: String

    /// The status of the last attempt's response; `nil` if none came.
    let status: Int?

    /// The bytes of the last attempt's body, after decoding.
    let bytes: Int64

    /// How many attempts were begun.
    let attempts: Int

    /// The time from when the request had a place to its end.
    let seconds: Duration

    /// Why it failed; `nil` for a success.
    let error: Failure?
}

extension Outcome {
    /// What became of an operation that has ended; `nil` for one that never began.
    init?(of operation: InputOperation, _ result: Result<Int64, any Error>) {
        guard let seconds = operation.duration else { return nil }
        let attempts = operation.attempts
        id = operation.input.id
        url = operation.input.url
        self.attempts = operation.begunAttempts
        self.seconds = seconds
        switch result {
        case .success(let size):
            status = attempts.last?.status
            bytes = size
            error = nil
        case .failure(let failure as RequestError):
            status = failure.head.flatMap { $0.isHTTP ? $0.status : nil }
            bytes = max(operation.received, attempts.last?.bodySize ?? 0)
            error = Failure(code: failure.code.description, message: failure.description)
        case .failure:
            status = attempts.last?.status
            bytes = operation.received
            error = .cancelled
        }
    }
}
