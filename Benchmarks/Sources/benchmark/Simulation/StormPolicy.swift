import Foundation
import RequestOperations
import RequestOperationsTesting

/// What a simulated process does after a failed attempt.
enum StormPolicy {
    /// A policy of the library, as it is shipped, with what its process knows of the server.
    case shipped(RetryPolicy, HostRegistry, RandomSource)
    /// That of Alamofire 5.12 with its defaults, for a GET that is answered with 503: at most two retries, after
    /// `pow(2, retryCount) * 0.5` seconds, of which the first has a `retryCount` of 0, without jitter
    /// (Source/Features/RetryPolicy.swift, `retry(_:for:session:dueTo:completion:)`).
    case alamofire

    /// Which of them.
    enum Kind: String, Codable {
        case ours
        case endless
        case alamofire
    }

    /// Makes that of a process which begins now.
    init(_ kind: Kind, clock: ManualClock, random: RandomSource) {
        switch kind {
        case .ours:
            var policy = RetryPolicy.default
            policy.budget = RetryBudget(mode: .failing)
            self = .shipped(policy, HostRegistry(clock: clock), random)
        case .endless: self = .shipped(.endless, HostRegistry(clock: clock), random)
        case .alamofire: self = .alamofire
        }
    }

    /// A request is about to be sent for the first time.
    func countRequest() {
        guard case .shipped(let policy, let hosts, _) = self, let budget = policy.budget else { return }
        hosts.countRequest(to: Self.url, under: budget)
    }

    /// A retry is due. Whether the budget has room for it.
    func drawsRetry() -> Bool {
        guard case .shipped(let policy, let hosts, _) = self, let budget = policy.budget else { return true }
        return hosts.drawRetry(to: Self.url, under: budget, within: .zero) != nil
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
        case .shipped(let policy, let hosts, let random):
            // An operation fails at once where it surely gets no room.
            if let budget = policy.budget, hosts.retriesLeft(to: Self.url, under: budget) == 0 { return nil }
            let failure = AttemptFailure(
                Self.error, attempt: attempt, request: Self.request, stage: .validate, head: Self.head,
                elapsed: .nanoseconds(elapsed), date: Self.date)
            guard case .retry(let delay, _, _, _, _) = policy.decision(after: failure, using: random) else {
                return nil
            }
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
