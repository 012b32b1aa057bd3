/// Which requests are submitted, which stand by or are held back, and when the input has to wait: a pure state machine.
///
/// However long the input, a bounded number of operations exists: as many as can be in flight. A request is submitted when
/// there is a place for it and not before, since its time and its deadline run from then; some more stand by, unsubmitted,
/// so that a place never waits for the input. A request in backoff takes no place, up to a bound of its own, so that those
/// that wait never block others. A request to a host that has all its places is held back, and those behind it go first.
struct Admission {
    /// What becomes of a request.
    enum Verdict: Equatable {
        /// It is to be submitted.
        case submit
        /// It is kept until there is a place for it.
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
        var runningPerHost: Int
        /// How many stand by for the next place, besides those that were held back for their host's.
        var standby: Int
        /// How many wait for their next attempt. Each keeps 7 KiB or so.
        var waiting = 5000
        /// How many have ended and are not printed yet, which are more than a few if nobody reads the results.
        var unprinted = 1000
        /// How many are not submitted yet, if hosts have no place for them.
        var held = 10_000
        /// How many bytes all of them keep; a single request may be larger.
        var bytes: Int

        /// The limits for attempts in flight.
        init(concurrency: Int, perHost: Int?) {
            running = concurrency
            runningPerHost = perHost ?? .max
            standby = max(8, concurrency / 2)
            // What every request takes must not keep those from being in flight that are to be.
            bytes = (32 << 20) + concurrency * InputRequest.overhead
        }
    }

    /// Where a submitted request is.
    private enum Place {
        case running
        case waiting
        case unprinted
    }

    private struct Host {
        /// How many run or stand by.
        var places = 0
        var held = Line()
    }

    private let limits: Limits
    private var submitted: [Int: Place] = [:]
    private var running = 0
    private var unprinted = 0
    /// Those that stand by: each has a place of its host.
    private var standby = Line()
    /// How many stand by or are held back by their host.
    private var held = 0
    private var bytes = 0
    private var hosts: [String: Host] = [:]
    private var isInputOpen = true
    /// Whether the run was stopped: nothing is submitted any more.
    private(set) var isStopped = false

    init(limits: Limits) {
        self.limits = limits
    }

    private var waiting: Int { submitted.count - running - unprinted }

    private var hasPlace: Bool { running < limits.running && unprinted < limits.unprinted }

    /// Whether nothing is left to be done, and nothing will come.
    var isIdle: Bool { submitted.isEmpty && held == 0 && (!isInputOpen || isStopped) }

    /// Whether it is worth while to wake an input that waits: there is room for several requests at once.
    var hasRoom: Bool {
        standby.count <= limits.standby / 2 && waiting < limits.waiting && held < limits.held && bytes < limits.bytes
    }

    /// Judges the next request of the input.
    mutating func offer(_ request: InputRequest) -> Verdict {
        guard !isStopped else { return .stopped }
        guard submitted.isEmpty && held == 0 || bytes + request.size <= limits.bytes else { return .wait }
        guard waiting < limits.waiting, held < limits.held else { return .wait }
        if hosts[request.host]?.places ?? 0 >= limits.runningPerHost {
            hosts[request.host]?.held.append(request)
            held += 1
        } else if standby.isEmpty, hasPlace {
            bytes += request.size
            hosts[request.host, default: Host()].places += 1
            enter(request)
            return .submit
        } else {
            guard standby.count < limits.standby else { return .wait }
            hosts[request.host, default: Host()].places += 1
            standby.append(request)
            held += 1
        }
        bytes += request.size
        return .held
    }

    /// The next request to submit, if one stands by and there is a place. To be asked after every change until there is none.
    mutating func takeNext() -> InputRequest? {
        guard hasPlace, let next = standby.popFirst() else { return nil }
        held -= 1
        enter(next)
        return next
    }

    /// A submitted request begins to wait for its next attempt. Of no effect for one that has ended.
    mutating func beganWaiting(_ request: InputRequest) {
        guard submitted[request.id] == .running else { return }
        submitted[request.id] = .waiting
        leave(request)
    }

    /// A submitted request begins an attempt; if it had waited, it takes a place, even if there is none: it was here first.
    mutating func beganAttempt(_ request: InputRequest) {
        guard submitted[request.id] == .waiting else { return }
        hosts[request.host, default: Host()].places += 1
        enter(request)
    }

    /// A submitted request has ended: its place is free.
    mutating func ended(_ request: InputRequest) {
        guard let place = submitted[request.id], place != .unprinted else { return }
        submitted[request.id] = .unprinted
        unprinted += 1
        if place == .running { leave(request) }
    }

    /// The result of a request was printed: nothing is left of it.
    mutating func printed(_ request: InputRequest) {
        ended(request)
        guard submitted.removeValue(forKey: request.id) != nil else { return }
        unprinted -= 1
        bytes -= request.size
    }

    /// No further request is offered.
    mutating func endInput() {
        isInputOpen = false
    }

    /// Submits nothing any more and forgets what was held back.
    mutating func stop() {
        isStopped = true
        held = 0
        standby = Line()
        for host in hosts.keys { hosts[host]?.held = Line() }
    }

    private mutating func enter(_ request: InputRequest) {
        submitted[request.id] = .running
        running += 1
    }

    /// Gives back a place, and that of the host to the next one that was held back for it.
    private mutating func leave(_ request: InputRequest) {
        running -= 1
        guard var host = hosts[request.host] else { return }
        host.places -= 1
        if host.places < limits.runningPerHost, let next = host.held.popFirst() {
            host.places += 1
            standby.append(next)
        }
        hosts[request.host] = host.places > 0 || !host.held.isEmpty ? host : nil
    }
}
