extension ClientStatistics {
    /// The statistics in the text format of Prometheus, version 0.0.4 (`text/plain; version=0.0.4`), in UTF-8.
    ///
    /// Counters end in `_total` and times are in seconds. The labels are hosts, codes and reasons, so they hold no credentials.
    /// Each line ends with a line feed. Without ``totals`` the text has only what is so now.
    public var prometheusText: String {
        var text = PrometheusText()
        if let totals { text.add(totals) }
        text.add(gauges)
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
            sample(value, suffix: suffix, labels)
        }

        mutating func sample(_ value: some CustomStringConvertible, suffix: String = "", _ labels: [(String, String)]) {
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

    /// - Parameter gauges: Those with the same name follow each other.
    mutating func add(_ gauges: [ClientStatistics.Gauge]) {
        var rest = gauges[...]
        while let first = rest.first {
            let samples = rest.prefix { $0.name == first.name }
            family(first.name.replacing(".", with: "_"), .gauge, first.help) { family in
                for gauge in samples { family.sample(Self.text(of: gauge.value), gauge.labels) }
            }
            rest = rest[samples.endIndex...]
        }
    }

    /// A whole number has no fraction.
    private static func text(of value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}
