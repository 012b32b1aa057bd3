import RequestOperations

/// What `--watch` shows of each host while a run goes on. It looks at the operations of the queue, so a run without it pays
/// nothing.
final class HostWatch: Sendable {
    private struct Ended {
        var count: Int64 = 0
        var meter = ThroughputMeter()

        init(since moment: Duration) { meter.note(0, at: moment) }
    }

    private struct State {
        var ended: [String: Ended] = [:]
        var shown: (moment: ContinuousClock.Instant, view: HostView)?
    }

    private let queue: RequestQueue
    private let configuration: RequestConfiguration
    private let began = ContinuousClock.now
    private let state = Locked(State())

    /// A run over thousands of operations looks at all of them, so it does that this often.
    private static let interval = Duration.milliseconds(500)
    private static let mostHosts = 10_000

    /// Makes a watch of the operations in a queue, which all have the same configuration.
    init(_ queue: RequestQueue, _ configuration: RequestConfiguration) {
        (self.queue, self.configuration) = (queue, configuration)
    }

    /// Counts an operation that has ended. Called on any thread.
    func countEnd(of operation: InputOperation) {
        let (origin, moment) = (operation.activity.origin, began.duration(to: .now))
        state.withLock { state in
            if state.ended[origin] == nil {
                guard state.ended.count < Self.mostHosts else { return }
                state.ended[origin] = Ended(since: moment)
            }
            state.ended[origin]?.count += 1
        }
    }

    /// What is shown now. It is made anew twice a second.
    var view: HostView {
        let now = ContinuousClock.now
        if let shown = state.withLock({ $0.shown }), now - shown.moment < Self.interval { return shown.view }
        var hosts: [String: HostView.Host] = [:]
        for case let operation as InputOperation in queue.allOperations {
            let (activity, origin) = operation.activity
            hosts[origin, default: HostView.Host(origin: origin)].count(activity)
        }
        let rates = rates(at: began.duration(to: now), keeping: Set(hosts.keys))
        for (origin, rate) in rates { hosts[origin, default: HostView.Host(origin: origin)].rate = rate }
        for origin in hosts.keys { look(at: &hosts[origin]!) }
        let view = HostView(Array(hosts.values))
        state.withLock { $0.shown = (now, view) }
        return view
    }

    /// How many requests to each host ended per second, recently. Hosts with no request left are forgotten.
    private func rates(at moment: Duration, keeping active: Set<String>) -> [String: Double] {
        state.withLock { state in
            var rates: [String: Double] = [:]
            for (origin, var ended) in state.ended {
                ended.meter.note(ended.count, at: moment)
                rates[origin] = ended.meter.perSecond
                state.ended[origin] = (rates[origin] ?? 1) > 0 || active.contains(origin) ? ended : nil
            }
            return rates
        }
    }

    /// Adds what the run knows of the host itself.
    private func look(at host: inout HostView.Host) {
        guard let url = URL(string: host.origin) else { return }
        host.leftAlone = configuration.hosts.timeLeftAlone(url)
        host.pace = queue.limiter.pace(to: url)
        host.circuit = configuration.retryPolicy.circuitBreaker.map {
            configuration.hosts.circuitState(of: url, under: $0)
        }
    }
}

/// The hosts of a run, in text. A pure value.
struct HostView: Sendable {
    /// One scheme, host and port.
    struct Host: Sendable {
        let origin: String
        /// How many requests are in flight.
        var inFlight = 0
        /// How many requests wait, for each reason.
        var waiting: [RequestWait: Int] = [:]
        /// How many requests ended per second, recently.
        var rate = 0.0
        /// How many attempts may begin per second; `nil` without a limit.
        var pace: Double?
        /// How long the host has asked to be left alone.
        var leftAlone = Duration.zero
        var circuit: CircuitBreaker.State?

        init(origin: String) { self.origin = origin }

        mutating func count(_ activity: RequestActivity) {
            switch activity {
            case .running: inFlight += 1
            case .waiting(let wait): waiting[wait, default: 0] += 1
            case .ended: break
            }
        }

        /// What is shown of it, without its name.
        fileprivate var figures: [String] {
            var figures = ["\(inFlight) in flight", "\(threeDigits(rate))/s"]
            figures += RequestWait.allCases.compactMap { wait in
                waiting[wait].map { "\(wait.rawValue.replacing("_", with: " ")) \($0)" }
            }
            if let pace { figures.append("pace \(threeDigits(pace))/s") }
            if leftAlone > .zero { figures.append("left alone for \(readable(leftAlone))") }
            switch circuit {
            case .open: figures.append("circuit open")
            case .halfOpen: figures.append("circuit half open")
            case .closed, nil: break
            }
            return figures
        }

        fileprivate var size: Int { waiting.values.reduce(inFlight, +) }
    }

    private let hosts: [Host]

    /// More hosts than these are counted only: rows of a terminal, and hosts of a plain line.
    private static let (mostRows, mostOfLine) = (8, 4)

    init(_ hosts: [Host]) {
        self.hosts = hosts.sorted { ($1.size, $1.rate, $0.origin) < ($0.size, $0.rate, $1.origin) }
    }

    /// The busiest hosts, by their names: an order by size would change all the time.
    private func busiest(_ count: Int) -> [Host] { hosts.prefix(count).sorted { $0.origin < $1.origin } }

    /// A row of a terminal for each of the busiest hosts.
    var rows: [String] {
        let shown = busiest(Self.mostRows)
        let width = shown.map(\.origin.count).max() ?? 0
        let figures = shown.map(\.figures)
        let (first, second) = (figures.map { $0[0].count }.max() ?? 0, figures.map { $0[1].count }.max() ?? 0)
        let rows = zip(shown, figures).map { host, figures in
            let fixed = [
                host.origin.padding(toLength: width, withPad: " ", startingAt: 0), right(figures[0], first),
                right(figures[1], second),
            ]
            return (fixed + figures.dropFirst(2)).joined(separator: "  ")
        }
        return rows + (hosts.count > shown.count ? ["and \(hosts.count - shown.count) more hosts"] : [])
    }

    /// The end of a plain line, for the busiest hosts.
    var words: String {
        let shown = busiest(Self.mostOfLine)
        let parts = shown.map { "\($0.origin) \($0.figures.joined(separator: ", "))" }
        return (parts + (hosts.count > shown.count ? ["\(hosts.count - shown.count) more hosts"] : []))
            .map { "; \($0)" }.joined()
    }

    private func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }
}
