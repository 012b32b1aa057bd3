import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct TimelineExportTests {
    private func object(_ report: TimelineReport, _ format: TimelineReport.Format) throws -> [String: Any] {
        let data = try report.encoded(as: format)
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test(arguments: TimelineReport.Format.allCases)
    func `No format shows a credential`(format: TimelineReport.Format) async throws {
        let report = try await TimelineRecorderTests.recorder(100).report
        let text = try #require(String(data: report.encoded(as: format), encoding: .utf8))
        #expect(!text.contains("canary"))
        #expect(text.contains("h1.invalid"))
    }

    @Test(arguments: [
        ("a.html", TimelineReport.Format.html), ("b.HAR", .har), ("c.trace.json", .trace), ("d.json", .json),
    ])
    func `The name of a file says the format`(name: String, format: TimelineReport.Format) {
        #expect(TimelineReport.Format(fileName: name) == format)
    }

    @Test func `A file whose name says no format is not written`() async throws {
        let report = try await TimelineRecorderTests.recorder(1).report
        let file = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("\(UUID()).txt")
        #expect(throws: CocoaError.self) { try report.write(to: file) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    // MARK: HAR

    @Test func `An archive has an entry for each attempt with all that HAR 1.2 demands`() async throws {
        let archive = try object(try await TimelineRecorderTests.recorder(30).report, .har)
        let log = try #require(archive["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2" && (log["creator"] as? [String: Any])?["name"] is String)
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(entries.count == 30)
        for entry in entries {
            let request = try #require(entry["request"] as? [String: Any])
            for key in ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"]
            {
                #expect(request[key] != nil, "\(key)")
            }
            let response = try #require(entry["response"] as? [String: Any])
            for key in ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"] {
                #expect(response[key] != nil, "\(key)")
            }
            #expect(entry["cache"] is [String: Any] && entry["startedDateTime"] is String)
            let timings = try #require(entry["timings"] as? [String: Double])
            let total = timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
            #expect(abs(total - (entry["time"] as? Double ?? -1)) < 1e-6)
        }
    }

    @Test func `An earlier hop of a redirect is an entry with what is known of it`() async throws {
        let recorder = TimelineRecorder()
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([
            .status(303, fields: [(name: "Location", value: "https://b.invalid/to?token=canary")]), .status(200),
        ])
        configuration.record(in: recorder)
        var request = URLRequest(url: URL(string: "https://a.invalid/from?token=canary")!)
        request.httpMethod = "POST"
        request.setValue("Bearer canary", forHTTPHeaderField: "Authorization")
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(try !String(decoding: recorder.report.encoded(as: .har), as: UTF8.self).contains("canary"))
        let log = try #require(try object(recorder.report, .har)["log"] as? [String: Any])
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(entries.count == 2)
        let requests = entries.compactMap { $0["request"] as? [String: Any] }
        let responses = entries.compactMap { $0["response"] as? [String: Any] }
        #expect(requests.map { $0["method"] as? String } == ["POST", "GET"])
        #expect(responses.map { $0["status"] as? Int } == [303, 200])
        #expect((responses[0]["redirectURL"] as? String)?.hasPrefix("https://b.invalid/to") == true)
        #expect((requests[1]["url"] as? String)?.hasPrefix("https://b.invalid/to") == true)
        #expect(responses[1]["redirectURL"] as? String == "")
        #expect((entries[0]["_note"] as? String)?.contains("unknown") == true && entries[1]["_note"] == nil)
    }

    // MARK: Trace

    @Test func `Slices of a lane are nested and never overlap otherwise`() async throws {
        let trace = try object(try await TimelineRecorderTests.recorder(200).report, .trace)
        let events = try #require(trace["traceEvents"] as? [[String: Any]])
        var lanes: [String: [(start: Double, end: Double)]] = [:]
        for event in events where event["ph"] as? String == "X" {
            let (start, length) = (event["ts"] as? Double ?? -1, event["dur"] as? Double ?? -1)
            #expect(start >= 0 && length >= 0)
            lanes["\(event["pid"]!) \(event["tid"]!)", default: []].append((start, start + length))
        }
        #expect(lanes.count > 1)
        for slices in lanes.values {
            var open: [Double] = []
            for slice in slices.sorted(by: { ($0.start, $1.end) < ($1.start, $0.end) }) {
                while let end = open.last, end <= slice.start + 0.001 { open.removeLast() }
                #expect(open.last.map { slice.end <= $0 + 0.001 } ?? true)
                open.append(slice.end)
            }
        }
    }

    // MARK: Page

    @Test func `The page loads nothing and has no script`() async throws {
        let report = try await TimelineRecorderTests.recorder(50).report
        let page = try #require(String(data: report.encoded(as: .html), encoding: .utf8))
        for part in ["<script", "<link", "<img", "@import", "url(", " src=", "onclick"] {
            #expect(!page.contains(part), "\(part)")
        }
    }

    @Test func `The totals of the page are those of the JSON`() async throws {
        let report = try await TimelineRecorderTests.recorder(120).report
        let page = try #require(String(data: report.encoded(as: .html), encoding: .utf8))
        let json = try object(report, .json)
        for key in ["requests", "succeeded", "failed", "cancelled", "attempts", "retries", "hedges"] {
            let total = try #require(json[key] as? Int)
            #expect(page.contains("<dd data-total=\"\(key)\">\(total)</dd>"), "\(key)")
        }
        #expect((json["details"] as? [Any])?.count == report.requests.count)
    }

    @Test func `Text of a server or a URL is never markup`() async throws {
        let recorder = TimelineRecorder()
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.status(404)])
        configuration.record(in: recorder)
        let request = URLRequest(url: URL(string: "https://example.invalid/'onload='x?a=%3Cscript%3E")!)
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try? await operation.value
        let page = try #require(String(data: recorder.report.encoded(as: .html), encoding: .utf8))
        #expect(!page.contains("'onload='") && !page.contains("<script"))
    }

    @Test func `A page of 20,000 requests has less than 2 MB`() async throws {
        let report = try await TimelineRecorderTests.recorder(20_000).report
        #expect(try report.encoded(as: .html).count < 2_000_000)
    }
}
