#if Observability
    import CoreMetrics
    import RequestOperations

    /// Measures requests: how long their attempts take, how many run, and why they are retried.
    final class RequestMetrics: Sendable {
        typealias Dimensions = [(String, String)]

        private let factory: any MetricsFactory
        /// The dimensions under which each active request was counted.
        private let active = Locked<[RequestID: Dimensions]>([:])

        init(_ factory: any MetricsFactory) { self.factory = factory }

        var instrument: RequestInstrument {
            var instrument = RequestInstrument()
            instrument.keepsExchanges = true
            instrument.prepare = { [self] request, timeline in began(timeline) }
            instrument.ended = { [self] in end($0) }
            return instrument
        }

        private func began(_ timeline: RequestTimeline) {
            let dimensions = Self.dimensions(timeline.method, timeline.original)
            let isNew = active.withLock { active in
                guard active[timeline.id] == nil else { return false }
                active[timeline.id] = dimensions
                return true
            }
            if isNew { meter(dimensions).increment() }
        }

        private func end(_ timeline: RequestTimeline) {
            if let dimensions = active.withLock({ $0.removeValue(forKey: timeline.id) }) {
                meter(dimensions).decrement()
            }
            guard timeline.isRequest else { return }
            for attempt in timeline.attempts { record(attempt, of: timeline) }
            let host = Self.dimensions(timeline.method, timeline.original)
            let outcome = host + [("outcome", timeline.outcome.word)]
            timer("requestoperations.request.duration", outcome).record(duration: timeline.duration ?? .zero)
        }

        private func record(_ attempt: Attempt, of timeline: RequestTimeline) {
            let request = attempt.sentRequest
            let host = Self.dimensions(request?.httpMethod ?? timeline.method, request?.url ?? timeline.original)
            if let reason = attempt.waitReason {
                let dimensions = host + [("reason", RequestWait(reason).rawValue)]
                Counter(label: "requestoperations.retries", dimensions: dimensions, factory: factory).increment()
                timer("requestoperations.wait.duration", dimensions).record(duration: attempt.waited)
            }
            if attempt.isHedge {
                Counter(label: "requestoperations.hedges", dimensions: host, factory: factory).increment()
            }
            // What was not sent has no duration.
            guard let sent = attempt.sent, let ended = attempt.ended else { return }
            var dimensions = host
            if let status = attempt.status { dimensions.append((HTTPConvention.status, "\(status)")) }
            if let type = HTTPConvention.errorType(attempt.error) {
                dimensions.append((HTTPConvention.errorType, type))
            }
            if let version = attempt.protocolVersion { dimensions.append((HTTPConvention.version, version)) }
            timer(HTTPConvention.duration, dimensions).record(duration: ended - sent)
        }

        private static func dimensions(_ method: String, _ url: URL?) -> Dimensions {
            let method = [(HTTPConvention.method, HTTPConvention.method(method))]
            guard let server = Server(url) else { return method }
            return method + [(HTTPConvention.address, server.address), (HTTPConvention.port, "\(server.port)")]
        }

        private func meter(_ dimensions: Dimensions) -> Meter {
            Meter(label: HTTPConvention.active, dimensions: dimensions, factory: factory)
        }

        private func timer(_ label: String, _ dimensions: Dimensions) -> CoreMetrics.Timer {
            CoreMetrics.Timer(label: label, dimensions: dimensions, factory: factory)
        }
    }

    /// Sets gauges from the statistics of a client, at equal intervals.
    struct StatisticsGauges: Sendable {
        let factory: any MetricsFactory
        /// Tells the gauges of several clients apart. Empty if there is nothing to tell.
        let dimensions: [(String, String)]

        /// Sets the gauges now, and again after each interval, until the client is gone.
        func follow(_ client: RequestClient, every interval: Duration) {
            let clock = client.configuration.clock
            Task.detached { [weak client] in
                while let statistics = client?.statistics {
                    set(statistics)
                    do {
                        try await clock.sleep(for: max(interval, .milliseconds(100)))
                    } catch {
                        // Nobody cancels this Task, so the clock cannot sleep. Without it there is no next time.
                        return
                    }
                }
            }
        }

        private func set(_ statistics: ClientStatistics) {
            set("running", statistics.running)
            for wait in RequestWait.allCases {
                set("waiting", statistics.waiting[wait] ?? 0, [("reason", wait.rawValue)])
            }
            set("queue.depth", statistics.queueDepth)
            set("queue.oldest_wait", (statistics.oldestWait ?? .zero).inSeconds)
            for host in statistics.hosts {
                let server = Server(URL(string: host.origin))
                guard let server else { continue }
                let labels = [(HTTPConvention.address, server.address), (HTTPConvention.port, "\(server.port)")]
                if let left = host.retriesLeft { set("budget.retries_left", left, labels) }
                if let circuit = host.circuit { set("circuit.state", circuit.level, labels) }
                if let pace = host.pace { set("pace", pace, labels) }
            }
        }

        private func set(_ name: String, _ value: some BinaryInteger, _ more: [(String, String)] = []) {
            set(name, Double(value), more)
        }

        private func set(_ name: String, _ value: Double, _ more: [(String, String)] = []) {
            Meter(label: "requestoperations.\(name)", dimensions: dimensions + more, factory: factory).set(value)
        }
    }

    extension CircuitBreaker.State {
        /// 0 if closed, 1 if half open, 2 if open.
        fileprivate var level: Int {
            switch self {
            case .closed: 0
            case .halfOpen: 1
            case .open: 2
            }
        }
    }

    extension CoreMetrics.Timer {
        fileprivate func record(duration: Duration) { recordNanoseconds(max(duration, .zero).nanoseconds) }
    }
#endif
