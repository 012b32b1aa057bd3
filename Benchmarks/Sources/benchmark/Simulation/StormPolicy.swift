import Foundation
import RequestOperations
import RequestOperationsTesting

/// What a simulated process does after a failed attempt.
enum StormPolicy {
    /// A policy of the library, as it is shipped: it decides, and draws on its budget.
    case shipped(RetryPolicy, RandomSource)
    /// That of Alamofire 5.12 with its defaults, for a GET that is answered with 503: at most two retries, after
    /// `pow(2, retryCount) * 0.5` seconds, of which the first has a `retryCount` of 0, without jitter
    /// (Source/Features/RetryPolicy.swift, `retry(_:for:session:dueTo:completion:)`).
    case alamofire

    /// Which of them.
    enum Kind: String, Codable {
        case ours
        case ancestor
        case alamofire
    }

    /// Makes that of a process which begins now.
    init(_ kind: Kind, clock: ManualClock, random: RandomSource) {
        switch kind {
        case .ours:
            var policy = RetryPolicy.default
            policy.budget = RetryBudget(mode: .failing, clock: clock)
            self = .shipped(policy, random)
        case .ancestor: self = .shipped(.ancestor, random)
        case .alamofire: self = .alamofire
        }
    }

    /// A request is about to be sent for the first time.
    func countRequest() {
        if case .shipped(let policy, _) = self { policy.budget?.countRequest(to: Self.url) }
    }

    /// After how many seconds the next attempt follows; `nil` if none does.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that was answered with 503.
    ///   - elapsed: The nanoseconds since the request was made.
    func delay(after attempt: Int, elapsed: Int64) -> Double? {
        switch self {
        case .alamofire:
            let retryCount = attempt - 1
            return retryCount < 2 ? pow(2, Double(retryCount)) * 0.5 : nil
        case .shipped(let policy, let random):
            let failure = AttemptFailure(
                Self.error, attempt: attempt, request: Self.request, stage: .validate, head: Self.head,
                elapsed: .nanoseconds(elapsed), date: Self.date)
            guard case .retry(let delay, _, _, _) = policy.decision(after: failure, using: random) else { return nil }
            return delay / .seconds(1)
        }
    }

    // A good URL.
    private static let url = URL(string: "http://server.example/")!
    private static let request = URLRequest(url: url)
    private static let head = ResponseHead(status: 503, url: url)
    private static let error = RequestError(.unacceptableStatus, stage: .validate, head: head)
    /// Of no effect, since the response has no `Retry-After`; but the present would have to be asked for.
    private static let date = Date(timeIntervalSince1970: 0)
}
