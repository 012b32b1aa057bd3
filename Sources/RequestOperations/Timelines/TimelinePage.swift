/// A report as a page for people: one file, which loads nothing and runs no script.
///
/// All that a drawing shows also stands in text beside it, for readers of screens. Everything that opens is a `details` element,
/// so the keyboard reaches it.
struct TimelinePage {
    /// More rows than this of a table, and more attempts of a request, are left out.
    private static let mostRows = 100
    private static let mostAttempts = 8

    let html: String

    init(_ report: TimelineReport) {
        let summary = report.summary
        let title = "\(summary.requests) requests, \(summary.failed) failed"
        let sections = [
            Self.totals(summary), Self.latency(summary), Self.overTime(summary), Self.hosts(summary),
            Self.reasons(summary), Self.requests("Slowest requests", "slowest", report.slowest),
            Self.requests("Failed requests", "failed", report.failed),
            Self.requests("A sample of all requests", "sample", report.sample),
        ]
        html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p>A run of \(readable(summary.duration)), begun \(escaped(summary.start.ISO8601Format())).</p>
            <nav aria-label="Sections"><a href="#latency">Latency</a> <a href="#time">Over time</a> <a href="#hosts">Hosts</a>
            <a href="#reasons">Failures and retries</a> <a href="#slowest">Slowest</a> <a href="#failed">Failed</a>
            <a href="#sample">Sample</a></nav>
            </header>
            <main>
            \(sections.joined(separator: "\n"))
            </main>
            </body>
            </html>

            """
    }

    // MARK: Totals

    private static func totals(_ summary: TimelineSummary) -> String {
        let rate = Double(summary.requests) / max(summary.duration.inSeconds, 1e-6)
        let tiles = [
            ("requests", "\(summary.requests)"), ("succeeded", "\(summary.succeeded)"), ("failed", "\(summary.failed)"),
            ("cancelled", "\(summary.cancelled)"), ("attempts", "\(summary.attempts)"),
            ("retries", "\(summary.retries)"),
            ("hedges", "\(summary.hedges)"), ("requests/s", threeDigits(rate)),
        ]
        let items = tiles.map { "<div><dt>\($0.0)</dt><dd data-total=\"\($0.0)\">\($0.1)</dd></div>" }
        return "<section aria-label=\"Totals\"><dl class=\"tiles\">\(items.joined())</dl></section>"
    }

    private static func latency(_ summary: TimelineSummary) -> String {
        let bars = summary.latency.bars(stepsPerOctave: 4)
        let most = max(bars.map(\.count).max() ?? 1, 1)
        let width = 100 / Double(max(bars.count, 1))
        let rectangles = bars.enumerated().map { index, bar in
            let height = 100 * Double(bar.count) / Double(most)
            return
                "<rect x=\"\(short(Double(index) * width))\" y=\"\(short(100 - height))\" width=\"\(short(width * 0.9))\" "
                + "height=\"\(short(height))\"><title>up to \(readable(bar.upTo)): \(bar.count)</title></rect>"
        }
        let percentiles =
            [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)].map {
                [$0.0, readable(summary.latency.percentile($0.1))]
            } + [["max", readable(summary.latency.maximum)]]
        let first = bars.first.map { readable($0.upTo) } ?? "–"
        let last = bars.last.map { readable($0.upTo) } ?? "–"
        return section(
            "Latency", "latency",
            """
            <p>From when a request was ready until it ended, with all waits and retries. The scale is logarithmic.</p>
            <svg class="chart" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" \
            aria-label="Histogram of latencies from \(first) to \(last). The table has the percentiles.">\(rectangles.joined())</svg>
            <p class="axis"><span>\(first)</span><span>\(last)</span></p>
            \(table(["percentile", "latency"], percentiles))
            """)
    }

    private static func overTime(_ summary: TimelineSummary) -> String {
        let seconds = summary.stepLength.inSeconds
        var inFlight = 0
        let flights = summary.steps.map { step in
            inFlight += step.moreInFlight
            return Double(inFlight)
        }
        let rates = { (count: (TimelineSummary.Step) -> Int) in summary.steps.map { Double(count($0)) / seconds } }
        let charts = [
            ("Requests in flight, also in backoff", flights), ("Requests ended per second", rates(\.ended)),
            ("Retries per second", rates(\.retries)), ("Failures per second", rates(\.failed)),
        ]
        return section(
            "Over time", "time",
            "<p>A request and its retries count when it ends.</p><div class=\"charts\">"
                + charts.map { chart($0.0, $0.1, over: summary.duration) }.joined() + "</div>")
    }

    private static func chart(_ title: String, _ values: [Double], over duration: Duration) -> String {
        let most = max(values.max() ?? 0, 1e-9)
        let width = 100 / Double(max(values.count, 1))
        // Steps, since each value is that of a stretch of time.
        let path = values.enumerated().map { index, value in
            let y = short(100 - 98 * value / most)
            return "\(short(Double(index) * width)) \(y)L\(short(Double(index + 1) * width)) \(y)"
        }
        let shape = path.isEmpty ? "" : "M0 100L" + path.joined(separator: "L") + "L100 100Z"
        let mean = values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
        return """
            <figure><figcaption>\(title)<br><small>at most \(threeDigits(most < 1e-6 ? 0 : most)), \
            on average \(threeDigits(mean))</small></figcaption>
            <svg class="chart" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" \
            aria-label="\(title), over time"><path d="\(shape)"/></svg>
            <p class="axis"><span>0</span><span>\(readable(duration))</span></p></figure>
            """
    }

    private static func hosts(_ summary: TimelineSummary) -> String {
        let rows = summary.hosts.prefix(mostRows).map { host in
            [
                host.origin.isEmpty ? "(no host)" : host.origin, "\(host.requests)", "\(host.failed)",
                "\(host.retries)",
                readable(host.latency.percentile(0.5)), readable(host.latency.percentile(0.99)),
                readable(host.latency.maximum),
            ]
        }
        return section(
            "Hosts", "hosts",
            table(["host", "requests", "failed", "retries", "p50", "p99", "max"], rows)
                + omitted(summary.hosts.count - rows.count, "hosts"))
    }

    private static func reasons(_ summary: TimelineSummary) -> String {
        func counts(_ title: String, _ head: [String], _ values: [(String, String)]) -> String {
            guard !values.isEmpty else { return "" }
            return "<div><h3>\(title)</h3>" + table(head, values.prefix(mostRows).map { [$0.0, $0.1] })
                + omitted(values.count - mostRows, "rows") + "</div>"
        }
        func sorted(_ values: [String: Int]) -> [(String, String)] {
            values.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, "\($0.value)") }
        }
        let waits = summary.waits.sorted { $0.value > $1.value }.map { ($0.key.description, readable($0.value)) }
        let statuses = summary.statuses.sorted { $0.key < $1.key }.map { ("\($0.key)", "\($0.value)") }
        let parts = [
            counts("Last status of a request", ["status", "requests"], statuses),
            counts("Failures", ["code", "requests"], sorted(summary.failures)),
            counts("Why there was no further attempt", ["reason", "requests"], sorted(summary.notRetried)),
            counts("What ended the waits before retries", ["woken by", "retries"], sorted(summary.retriesByWake)),
            counts("What the waits before retries were for", ["reason", "time in all"], waits),
        ]
        let body = parts.joined()
        return section(
            "Failures and retries", "reasons",
            body.isEmpty ? "<p>There were none.</p>" : "<div class=\"charts\">\(body)</div>")
    }

    // MARK: Requests

    private static func requests(_ title: String, _ id: String, _ timelines: [RequestTimeline]) -> String {
        let rows = timelines.map(request).joined()
        return section(title, id, timelines.isEmpty ? "<p>There are none.</p>" : legend + rows)
    }

    private static func request(_ timeline: RequestTimeline) -> String {
        let total = max(timeline.duration ?? timeline.attempts.last?.ended ?? .zero, .nanoseconds(1))
        let phases = timeline.attempts.flatMap(\.phases).filter { $0.duration / total > 0.002 }.prefix(100)
        let bars = phases.map { phase in
            let (left, width) = (100 * (phase.start / total), 100 * (phase.duration / total))
            return "<i class=\"\(phase.kind.rawValue)\" style=\"left:\(short(left))%;width:\(short(width))%\"></i>"
        }
        let last = mostAttempts / 2
        let omittedCount = max(timeline.attempts.count - mostAttempts, 0)
        let attempts =
            omittedCount == 0 ? timeline.attempts : timeline.attempts.prefix(last) + timeline.attempts.suffix(last)
        let status = timeline.status.map { "\($0)" } ?? "no response"
        return """
            <details class="\(timeline.outcome.word)"><summary><span class="url">\(escaped(timeline.method)) \
            \(escaped(timeline.url))</span> <span class="facts">\(timeline.outcome.word), \(status), \
            \(timeline.attemptCount) attempt\(timeline.attemptCount == 1 ? "" : "s"), \(readable(total))</span>\
            <span class="bar" aria-hidden="true">\(bars.joined())</span></summary>
            <p>Request \(timeline.id), ready \(escaped(timeline.startDate.ISO8601Format(.init(includingFractionalSeconds: true)))).\
            \(timeline.failure.map { " \(escaped($0))." } ?? "")\
            \(timeline.notRetried.map { " <b>Not retried:</b> \(escaped($0))." } ?? "")</p>
            \(table(["attempt", "began after", "took", "result", "phases"], attempts.map(row)))\
            \(omitted(omittedCount + timeline.attemptCount - timeline.attempts.count, "attempts"))</details>

            """
    }

    private static func row(of attempt: Attempt) -> [String] {
        let phases = attempt.phases.filter { $0.kind != .backoff }.map {
            unbroken("\($0.kind.rawValue) \(readable($0.duration))")
        }
        let wait = attempt.waited > .zero ? ["\(attempt.waitTitle): \(readable(attempt.waited))"] : []
        // What matters most comes first.
        let facts = attempt.facts.sorted { rank($0.key) < rank($1.key) }.map { "\($0.key) \($0.value)" }
        return [
            unbroken(attempt.title), unbroken(readable(attempt.began)),
            attempt.duration.map { unbroken(readable($0)) } ?? "runs",
            facts.joined(separator: "; "), (wait + phases).joined(separator: " · "),
        ]
    }

    private static func rank(_ fact: String) -> (Int, String) {
        (["status", "error"].firstIndex(of: fact) ?? 2, fact)
    }

    /// Text that a browser keeps in one line.
    private static func unbroken(_ text: String) -> String { text.replacingOccurrences(of: " ", with: "\u{A0}") }

    private static var legend: String {
        "<ul class=\"legend\" aria-label=\"Colours of the bars\">"
            + Attempt.Kind.allCases.map { "<li><i class=\"\($0.rawValue)\"></i>\($0.rawValue)</li>" }.joined() + "</ul>"
    }

    // MARK: Parts of a page

    private static func section(_ title: String, _ id: String, _ body: String) -> String {
        "<section id=\"\(id)\" aria-labelledby=\"\(id)-title\"><h2 id=\"\(id)-title\">\(title)</h2>\n\(body)\n</section>"
    }

    /// A table that scrolls by itself. Its cells are escaped.
    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        let heads = head.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
        let body = rows.map { row in
            "<tr><th scope=\"row\">\(escaped(row[0]))</th>" + row.dropFirst().map { "<td>\(escaped($0))</td>" }.joined()
                + "</tr>"
        }
        let label = escaped("Table of \(head.joined(separator: ", "))")
        return
            "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"\(label)\"><table><thead><tr>\(heads)</tr></thead>"
            + "<tbody>\(body.joined())</tbody></table></div>"
    }

    private static func omitted(_ count: Int, _ what: String) -> String {
        count > 0 ? "<p>\(count) more \(what) are left out.</p>" : ""
    }

    private static let style = """
        :root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--page:#fff;--box:#f3f5f7;--line:#d4d9df;--accent:#0b62c4;\
        --backoff:#b7bdc4;--prepare:#8c6bb1;--host:#d1495b;--slot:#e08e0b;--redirect:#7f5539;--blocked:#f0c419;--queued:#d9dde2;--lookup:#38a3a5;--connect:#3f7fd1;--secure:#7a5cd6;\
        --send:#9aa5b1;--firstByte:#2a9d4a;--receive:#0b62c4;--decode:#c2418f;--bad:#c4232b}
        @media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#9aa5b1;--page:#14171b;--box:#1e2329;--line:#343b44;\
        --accent:#6cb2ff;--backoff:#6b7580;--queued:#3d454e;--bad:#ff7b81}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:70rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
        h1{font-size:1.6rem;margin:0}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:.5rem 0}
        a{color:var(--accent);margin-right:.75rem}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.5rem;margin:1rem 0}
        .tiles div{background:var(--box);border-radius:.5rem;padding:.5rem .75rem}
        dt{color:var(--dim);font-size:.85rem}dd{margin:0;font-size:1.4rem;font-variant-numeric:tabular-nums}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}
        figure{margin:0}small{color:var(--dim)}
        .chart{display:block;width:100%;height:7rem;background:var(--box);border-radius:.25rem;fill:var(--accent)}
        .axis{display:flex;justify-content:space-between;margin:0;color:var(--dim);font-size:.85rem}
        .table{overflow-x:auto;margin:.5rem 0}
        table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
        th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;font-weight:normal}
        thead th{color:var(--dim)}
        details{border:1px solid var(--line);border-left:.3rem solid var(--line);border-radius:.25rem;margin:.4rem 0;padding:.4rem .6rem}
        details.failed{border-left-color:var(--bad)}
        summary{cursor:pointer}.url{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
        .facts{color:var(--dim);display:block;font-size:.9rem}
        .bar{position:relative;display:block;height:.8rem;margin-top:.3rem;background:var(--box);border-radius:.2rem;overflow:hidden}
        .bar i{position:absolute;top:0;bottom:0;min-width:1px}
        .legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin:.5rem 0;font-size:.85rem}
        .legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;margin-right:.35rem;vertical-align:-.1rem}
        \(Attempt.Kind.allCases.map { "i.\($0.rawValue){background:var(--\($0.rawValue))}" }.joined())
        @media print{details::details-content{content-visibility:visible}}
        """
}

/// Text in which no character has a meaning of HTML.
private func escaped(_ text: String) -> String {
    var html = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": html += "&amp;"
        case "<": html += "&lt;"
        case ">": html += "&gt;"
        case "\"": html += "&quot;"
        case "'": html += "&#39;"
        default: html.unicodeScalars.append(scalar)
        }
    }
    return html
}

/// A number with at most two decimals.
private func short(_ value: Double) -> String {
    let text = String(format: "%.2f", value)
    return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
}
