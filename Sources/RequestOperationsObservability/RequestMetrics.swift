#if Observability
    import CoreMetrics
    import RequestOperations

    extension RequestInstrument {
        /// Measures requests: how long their attempts take, how many run, and why they are retried.
        static func measuring(with factory: any MetricsFactory) -> RequestInstrument {
            RequestInstrument {
                let measured = MeasuredRequest(factory)
                var watch = RequestWatch()
                watch.prepare = { _, _, timeline in measured.began(timeline) }
                watch.ended = { measured.end($0) }
                return watch
            }
        }
    }

    private typealias Dimensions = [(String, String)]

    /// What is measured about one request.
    private final class MeasuredRequest: Sendable {
        private enum State {
            case fresh
            /// It is counted as active, under these dimensions.
            case active(Dimensions)
            case ended
        }

        private let factory: any MetricsFactory
        private let state = Locked(State.fresh)

        init(_ factory: any MetricsFactory) { self.factory = factory }

        /// Counts the request as active, unless it was counted or has ended.
        func began(_ timeline: RequestTimeline) {
            let dimensions = Self.dimensions(timeline.method, timeline.original)
            let isNew = state.withLock { state in
                guard case .fresh = state else { return false }
                state = .active(dimensions)
                return true
            }
            if isNew { meter(dimensions).increment() }
        }

        func end(_ timeline: RequestTimeline) {
            let former = state.withLock { state in
                defer { state = .ended }
                return state
            }
            if case .active(let dimensions) = former { meter(dimensions).decrement() }
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
            if let type = attempt.errorType { dimensions.append((HTTPConvention.errorType, type)) }
            if let version = attempt.protocolVersion { dimensions.append((HTTPConvention.version, version)) }
            // Without the timings of a transport, the stages after the transfer count as well.
            timer(HTTPConvention.duration, dimensions).record(duration: attempt.timings?.total ?? ended - sent)
        }

        private static func dimensions(_ method: String, _ url: URL?) -> Dimensions {
            let method = [(HTTPConvention.method, ShownMethod(method).value)]
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
        let dimensions: [(String, String)]

        /// Sets the gauges now, and again after each interval, until the client is gone. A gauge without a value is destroyed.
        func follow(_ client: RequestClient, every interval: Duration) {
            let clock = client.configuration.clock
            Task.detached { [weak client] in
                var meters: [[String]: Meter] = [:]
                while let statistics = client?.statistics {
                    let former = meters
                    meters = set(statistics)
                    for (key, meter) in former where meters[key] == nil { meter.destroy() }
                    do {
                        try await clock.sleep(for: max(interval, .milliseconds(100)))
                    } catch {
                        // Nobody cancels this Task, so the clock cannot sleep. Without it there is no next time.
                        break
                    }
                }
                for meter in meters.values { meter.destroy() }
            }
        }

        /// Returns the meters by their labels and dimensions.
        private func set(_ statistics: ClientStatistics) -> [[String]: Meter] {
            var meters: [[String]: Meter] = [:]
            for gauge in statistics.gauges {
                guard let more = Self.dimensions(of: gauge) else { continue }
                // Made anew, since another client without a name may have destroyed it.
                let meter = Meter(
                    label: "requestoperations.\(gauge.name)", dimensions: dimensions + more, factory: factory)
                meter.set(gauge.value)
                meters[[gauge.name] + more.map(\.1)] = meter
            }
            return meters
        }

        /// The labels with address and port for a host, as the other metrics have it. `nil` for work without a host.
        private static func dimensions(of gauge: ClientStatistics.Gauge) -> [(String, String)]? {
            var dimensions: [(String, String)] = []
            for (name, value) in gauge.labels {
                guard name == "host" else {
                    dimensions.append((name, value))
                    continue
                }
                guard let server = Server(URL(string: value)) else { return nil }
                dimensions += [(HTTPConvention.address, server.address), (HTTPConvention.port, "\(server.port)")]
            }
            return dimensions
        }
    }

    extension CoreMetrics.Timer {
        fileprivate func record(duration: Duration) { recordNanoseconds(max(duration, .zero).nanoseconds) }
    }
#endif
