import RequestOperations

/// The outcome of one request.
struct Outcome: Sendable {
    /// Why a request failed.
    struct Failure: Sendable, Equatable {
        /// The name of the error's code.
        let code: String
        /// One line, without credentials.
        let message: String

        /// The failure of a request that was in flight or waiting when the run was ended.
        static let cancelled = Failure(code: "cancelled", message: "the run was ended")
    }

    /// The number of the argument or line, from 1.
    let id: Int

    /// The URL that was requested.
    let url: String

    /// The status of the last attempt's response; `nil` if none came.
    let status: Int?

    /// The number of bytes of the last attempt's body, after decoding.
    let bytes: Int64

    /// How many attempts began.
    let attempts: Int

    /// The time from when the request got a place until it ended.
    let seconds: Duration

    /// How it ended.
    let ending: Ending

    /// The name of the file that the body was saved in, or of the file that was kept; `nil` for none.
    let file: String?

    /// Why it failed; `nil` for a success.
    var error: Failure? { if case .failed(let failure) = ending { failure } else { nil } }
}

extension Outcome {
    /// How a request ended.
    enum Ending: Sendable, Equatable {
        case succeeded
        /// The request was not sent, since its file already existed.
        case skipped
        case failed(Failure)
    }

    /// Makes the outcome of an operation that has ended. Returns `nil` for an operation that never began.
    init?(of operation: InputOperation, _ result: Result<Int64, any Error>) {
        guard let seconds = operation.duration else { return nil }
        let attempts = operation.attempts
        id = operation.input.id
        url = operation.input.url
        self.attempts = operation.begunAttempts
        self.seconds = seconds
        // The last attempt may have ended before it was sent.
        status = attempts.last { $0.status != nil }?.status
        switch result {
        case .success(let size):
            bytes = size
            ending = .succeeded
            file = operation.savedName
        case .failure(let failure as RequestError):
            bytes = max(operation.received, attempts.last?.bodySize ?? 0)
            ending = .failed(Failure(code: failure.code.description, message: toolText(failure)))
            file = nil
        case .failure:
            bytes = operation.received
            ending = .failed(.cancelled)
            file = nil
        }
    }

    /// Makes the outcome of a request that was not sent, since its file already existed.
    init(skipping request: InputRequest, keeping file: String) {
        self.init(
            id: request.id, url: request.url, status: nil, bytes: 0, attempts: 0, seconds: .zero, ending: .skipped,
            file: file)
    }
}
