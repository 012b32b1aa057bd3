import RequestOperationsTesting

@testable import RequestOperations

/// Tests of a retry budget: a clock, a URL, and what is made of them.
protocol BudgetTests {
    var clock: ManualClock { get }
    var url: URL { get }
}

/// What was decided, as far as a budget has a say in it.
enum BudgetedOutcome: Equatable {
    case stop
    case retry(Duration, observers: Int)
    case fail(RequestError.Code)
    case other
}

extension BudgetTests {
    func failure(
        _ error: any Error = RequestError(.timedOut, stage: .transfer), to url: URL? = nil, attempt: Int = 1,
        status: Int? = nil, elapsed: Duration = .zero, isReplayable: Bool = true
    ) -> AttemptFailure {
        let url = url ?? self.url
        let error =
            status.map {
                RequestError(
                    .unacceptableStatus, stage: .validate, head: ResponseHead(status: $0, url: url, fields: []))
            } ?? error
        return AttemptFailure(
            error, attempt: attempt, request: URLRequest(url: url), stage: .transfer,
            head: (error as? RequestError)?.head, requestMayHaveBeenProcessed: true, bodyIsReplayable: isReplayable,
            backoffStep: attempt, elapsed: elapsed, timeLeft: nil, date: Date(), uncounted: 0,
            redirect: nil, wasRefused: RequestError.Code.circuitOpen ~= error, hosts: clock.hosts)
    }

    /// A policy whose backoff is a second, with a budget.
    func policy(_ budget: KnownBudget?) -> RetryPolicy {
        var policy = RetryPolicy(backoff: .constant(.seconds(1)))
        policy.budget = budget?.budget
        return policy
    }

    /// What an operation does that failed, before its wait.
    func outcome(_ policy: RetryPolicy, _ failure: AttemptFailure) -> BudgetedOutcome {
        switch policy.planned(after: failure, in: clock.hosts, using: RandomSource(seed: 1)) {
        case .stop: .stop
        case .retry(let delay, let observers, false, false, nil): .retry(delay, observers: observers.count)
        case .fail(let error as RequestError): .fail(error.code)
        case .retry, .fail: .other
        }
    }

    func request(_ host: String) -> URLRequest {
        URLRequest(url: URL(string: "http://\(host).invalid/")!)  // Names of hosts make a URL.
    }

    func configuration(_ transport: ScriptedTransport, _ budget: KnownBudget?) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.zero))
        configuration.use(budget)
        return configuration
    }
}
