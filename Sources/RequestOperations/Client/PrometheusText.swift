extension ClientStatistics {
    /// The statistics in the text format of Prometheus, version 0.0.4 (`text/plain; version=0.0.4`), in UTF-8.
    ///
    /// Counters end in `_total` and times are in seconds. The labels are hosts, codes and reasons, so they hold no credentials.
    /// Each line ends with a line feed. Without ``totals`` the text has only what is so now.
    public var prometheusText: String {
        var text = PrometheusText()
        text.gauge("requests_running", "Requests that run now.", running)
        text.family("requests_waiting", .gauge, "Requests that wait now, by what they wait for.") { family in
            for wait in RequestWait.allCases { family.sample(waiting[wait] ?? 0, ("reason", wait.rawValue)) }
        }
        text.gauge("queue_depth", "Operations that the queue holds back.", queueDepth)
        text.gauge(
            "queue_oldest_wait_seconds", "How long the oldest request in the queue has been ready.",
            (oldestWait ?? .zero).inSeconds)
        if let totals { text.add(totals) }
        text.add(hosts)
        return text.lines
    }
}

/// Builds a text in the format of Prometheus. A pure value.
private struct PrometheusText {
    enum Kind: String { case counter, gauge, summary }

    /// The samples of one metric.
    struct Family {
        let name: String
        fileprivate(set) var samples = ""

        mutating func sample(_ value: some CustomStringConvertible, suffix: String = "", _ labels: (String, String)...)
        {
            let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
            samples += name + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
        }

        /// A backslash, a quotation mark and a line feed are escaped.
        private static func escaped(_ label: String) -> String {
            label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
    }

    private(set) var lines = ""

    mutating func family(_ name: String, _ kind: Kind, _ help: String, _ add: (inout Family) -> Void) {
        var family = Family(name: "requestoperations_" + name)
        add(&family)
        guard !family.samples.isEmpty else { return }
        lines += "# HELP \(family.name) \(help)\n# TYPE \(family.name) \(kind.rawValue)\n" + family.samples
    }

    mutating func gauge(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
        family(name, .gauge, help) { $0.sample(value) }
    }

    private mutating func counter(_ name: String, _ help: String, _ value: some CustomStringConvertible) {
        family(name, .counter, help) { $0.sample(value) }
    }

    mutating func add(_ totals: TimelineSummary) {
        family("requests_total", .counter, "Requests that ended, by how they ended.") { family in
            family.sample(totals.succeeded, ("outcome", "succeeded"))
            family.sample(totals.failed, ("outcome", "failed"))
            family.sample(totals.cancelled, ("outcome", "cancelled"))
        }
        family("request_failures_total", .counter, "Requests that failed, by their code.") { family in
            for (code, count) in totals.failures.sorted(by: { $0.key < $1.key }) {
                family.sample(count, ("code", code))
            }
        }
        family("responses_total", .counter, "Requests that ended, by their last status.") { family in
            for (status, count) in totals.statuses.sorted(by: { $0.key < $1.key }) {
                family.sample(count, ("status", "\(status)"))
            }
        }
        counter("attempts_total", "Attempts that began.", totals.attempts)
        counter("hedges_total", "Attempts that were sent beside another one.", totals.hedges)
        family("retries_total", .counter, "Retries that began, by what they had waited for.") { family in
            for reason in WaitReason.allCases {
                family.sample(totals.retriesByReason[reason] ?? 0, ("reason", RequestWait(reason).rawValue))
            }
        }
        family("retry_wait_seconds_total", .counter, "Time of waits before retries, by their reason.") { family in
            for reason in WaitReason.allCases {
                family.sample((totals.waits[reason] ?? .zero).inSeconds, ("reason", RequestWait(reason).rawValue))
            }
        }
        counter("received_bytes_total", "Bytes of response bodies, after decompression.", totals.receivedBytes)
        family("request_duration_seconds", .summary, "Time from ready to end of requests that were not cancelled.") {
            for quantile in [0.5, 0.9, 0.99] {
                $0.sample(totals.latency.percentile(quantile).inSeconds, ("quantile", "\(quantile)"))
            }
            $0.sample(totals.latency.sum.inSeconds, suffix: "_sum")
            $0.sample(totals.latency.count, suffix: "_count")
        }
    }

    mutating func add(_ hosts: [ClientStatistics.Host]) {
        func each(_ name: String, _ help: String, _ value: (ClientStatistics.Host) -> (any CustomStringConvertible)?) {
            family(name, .gauge, help) { family in
                for host in hosts { if let value = value(host) { family.sample("\(value)", ("host", host.origin)) } }
            }
        }
        each("host_requests_running", "Requests to the host that run now.") { $0.running }
        each("host_requests_waiting", "Requests to the host that wait now.") { $0.waiting }
        each("host_retries_left", "Retries that the budget of the host has room for.") { $0.retriesLeft }
        each("host_left_alone_seconds", "How long the host has asked to be left alone.") { $0.timeLeftAlone.inSeconds }
        each("host_pace", "Attempts to the host that may begin per second.") { $0.pace }
        family("host_circuit_state", .gauge, "1 for the state that the circuit of the host is in.") { family in
            for host in hosts {
                guard let circuit = host.circuit else { continue }
                for (state, name) in [
                    (CircuitBreaker.State.closed, "closed"), (.halfOpen, "half_open"), (.open, "open"),
                ] {
                    family.sample(circuit == state ? 1 : 0, ("host", host.origin), ("state", name))
                }
            }
        }
    }
}
