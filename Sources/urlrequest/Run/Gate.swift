import RequestOperations

/// The place where the input waits for the requests, and the end of the run for both.
///
/// The thread that reads the input blocks here; requests pass from any thread.
// Unchecked: `admission` and `ending` are touched under `condition` only.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var admission: Admission
    private var ending = Ending.awaitedByNobody

    private enum Ending {
        case awaitedByNobody
        case awaited(CheckedContinuation<Void, Never>)
        case reached
    }

    init(limits: Admission.Limits) {
        admission = Admission(limits: limits)
    }

    /// Whether the run was stopped.
    var isStopped: Bool {
        condition.lock()
        defer { condition.unlock() }
        return admission.isStopped
    }

    /// Offers a request of the input, and blocks while there is no room for it.
    func offer(_ request: InputRequest) -> Admission.Verdict {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let verdict = admission.offer(request)
            guard verdict == .wait else { return verdict }
            condition.wait()
        }
    }

    /// A submitted request begins to wait for its next attempt; returns the requests to submit in its place.
    func beganWaiting(_ request: InputRequest) -> [InputRequest] {
        locked { $0.beganWaiting(request) }
    }

    /// A submitted request begins an attempt.
    func beganAttempt(_ request: InputRequest) {
        locked { $0.beganAttempt(request) }
    }

    /// A submitted request has ended; returns the requests to submit in its place.
    func ended(_ request: InputRequest) -> [InputRequest] {
        locked { $0.ended(request) }
    }

    /// The result of a request was printed; returns the requests to submit now.
    func printed(_ request: InputRequest) -> [InputRequest] {
        locked { $0.printed(request) }
    }

    /// The input has come to its end.
    func endInput() {
        locked { $0.endInput() }
    }

    /// Lets nothing more through.
    func stop() {
        locked { $0.stop() }
    }

    /// Returns when the input has ended, or the run was stopped, and every submitted request has ended. Called once.
    func idle() async {
        await withCheckedContinuation { continuation in
            condition.lock()
            let isReached = if case .reached = ending { true } else { false }
            if !isReached { ending = .awaited(continuation) }
            condition.unlock()
            if isReached { continuation.resume() }
        }
    }

    /// Makes a change and returns the requests to submit after it.
    @discardableResult
    private func locked(_ change: (inout Admission) -> Void) -> [InputRequest] {
        condition.lock()
        change(&admission)
        var next: [InputRequest] = []
        while let request = admission.takeNext() { next.append(request) }
        if admission.isStopped || admission.hasRoom { condition.signal() }
        var waiter: CheckedContinuation<Void, Never>?
        if admission.isIdle {
            if case .awaited(let continuation) = ending { waiter = continuation }
            ending = .reached
        }
        condition.unlock()
        waiter?.resume()
        return next
    }
}
