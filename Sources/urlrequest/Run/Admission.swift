/// Which requests are submitted, which are held back, and when the input has to wait: a pure state machine.
///
/// However long the input, a bounded number of operations exists: as many as can be in flight and half as many again, so
/// that a slot never waits for the input. A request in backoff is not one of them, up to a bound of its own, so that
/// those that wait never block others. A request to a host that has all its attempts is held back, unsubmitted, and
/// those behind it go first; its time runs from its submission.
struct Admission {
    /// What becomes of a request.
    enum Verdict: Equatable {
        /// It is to be submitted.
        case submit
        /// It is kept until its host has a place.
        case held
        /// It has to be offered again later.
        case wait
        /// The run is over.
        case stopped
    }

    /// The bounds on memory; all but the widths are the same for every run.
    struct Limits {
        /// How many requests are submitted and not waiting for their next attempt.
        var running: Int
        /// How many of them to one host.
        var runningPerHost = Int.max
        /// How many wait for their next attempt. Each keeps 7 KiB or so.
        var waiting = 5000
        /// How many are held back since their host has no place.
        var held = 10_000
        /// How many bytes all of them keep; a single request may be larger.
        var bytes = 32 << 20

        /// The limits for attempts in flight.
        init(concurrency: Int, perHost: Int?) {
            running = concurrency + max(1, concurrency / 2)
            runningPerHost = perHost ?? .max
        }
    }

    /// Where a submitted request is.
    private enum Place {
        case running
        case waiting
    }

    private struct Host {
        var running = 0
        var held: [InputRequest] = []
        /// The first of `held` that was not taken yet.
        var firstHeld = 0
    }

    private let limits: Limits
    private var submitted: [Int: Place] = [:]
    private var running = 0
    private var held = 0
    private var bytes = 0
    private var hosts: [String: Host] = [:]
    private var isInputOpen = true
    /// Whether the run was stopped: nothing is submitted any more.
    private(set) var isStopped = false

    init(limits: Limits) {
        self.limits = limits
    }

    private var waiting: Int { submitted.count - running }

    /// Whether nothing is left to be done, and nothing will come.
    var isIdle: Bool { submitted.isEmpty && held == 0 && (!isInputOpen || isStopped) }

    /// Whether it is worth while to wake an input that waits: there is room for several requests at once.
    var hasRoom: Bool {
        running <= limits.running - max(1, limits.running / 6) && waiting < limits.waiting && held < limits.held
            && bytes < limits.bytes
    }

    /// Judges the next request of the input.
    mutating func offer(_ request: InputRequest) -> Verdict {
        guard !isStopped else { return .stopped }
        guard submitted.isEmpty && held == 0 || bytes + request.size <= limits.bytes else { return .wait }
        guard running < limits.running, waiting < limits.waiting else { return .wait }
        if hosts[request.host]?.running ?? 0 >= limits.runningPerHost {
            guard held < limits.held else { return .wait }
            hosts[request.host]?.held.append(request)
            held += 1
            bytes += request.size
            return .held
        }
        bytes += request.size
        enter(request)
        return .submit
    }

    /// A submitted request begins to wait for its next attempt. Of no effect for one that has ended.
    ///
    /// - Returns: The request to submit in its place, if one was held back.
    mutating func beganWaiting(_ request: InputRequest) -> InputRequest? {
        guard submitted[request.id] == .running else { return nil }
        submitted[request.id] = .waiting
        return leave(request)
    }

    /// A submitted request begins an attempt. Whether it had waited for it.
    mutating func beganAttempt(_ request: InputRequest) -> Bool {
        guard submitted[request.id] == .waiting else { return false }
        enter(request)
        return true
    }

    /// A submitted request has ended.
    ///
    /// - Returns: The request to submit in its place, if one was held back.
    mutating func ended(_ request: InputRequest) -> InputRequest? {
        guard let place = submitted.removeValue(forKey: request.id) else { return nil }
        bytes -= request.size
        return place == .running ? leave(request) : nil
    }

    /// No further request is offered.
    mutating func endInput() {
        isInputOpen = false
    }

    /// Submits nothing any more and forgets what was held back.
    mutating func stop() {
        isStopped = true
        held = 0
        for host in hosts.keys {
            hosts[host]?.held = []
            hosts[host]?.firstHeld = 0
        }
    }

    private mutating func enter(_ request: InputRequest) {
        submitted[request.id] = .running
        running += 1
        hosts[request.host, default: Host()].running += 1
    }

    private mutating func leave(_ request: InputRequest) -> InputRequest? {
        running -= 1
        hosts[request.host]?.running -= 1
        let next = takeHeld(of: request.host)
        if let next { enter(next) }
        if let host = hosts[request.host], host.running == 0, host.held.isEmpty { hosts[request.host] = nil }
        return next
    }

    private mutating func takeHeld(of name: String) -> InputRequest? {
        guard let host = hosts[name], host.firstHeld < host.held.count, host.running < limits.runningPerHost else {
            return nil
        }
        held -= 1
        hosts[name]?.firstHeld += 1
        // Moving the rest forward for each would take quadratic time.
        if host.firstHeld + 1 == host.held.count || host.firstHeld > 1000 {
            hosts[name]?.held.removeFirst(host.firstHeld + 1)
            hosts[name]?.firstHeld = 0
        }
        return host.held[host.firstHeld]
    }
}
