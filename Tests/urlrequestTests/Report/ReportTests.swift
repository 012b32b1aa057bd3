#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct ReportTests {
        private let place: TemporaryPath
        private var path: String { place.path }

        init() throws {
            place = try TemporaryPath()
        }

        @Test func `The report has the configuration and the sums of the run`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/ok", .status(503, fields: ["Retry-After": "0"]), .text("four"))
            _ = try await RunningTool.run(
                "run", server.url("/ok").absoluteString, server.url("/missing").absoluteString, "nonsense", "--report",
                path, "--header", "Authorization: Bearer secret", "--concurrency", "7", "--rate", "1000")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains("secret"))
            let report = try self.report()
            let sums = [
                "requests", "succeeded", "failed", "cancelled", "skipped", "unusable", "retries", "attempts",
                "exitStatus",
            ]
            #expect(sums.map { report[$0] as? Int } == [2, 1, 1, 0, 0, 1, 1, 3, 2])
            #expect(report["statuses"] as? [String: Int] == ["200": 1, "404": 1])
            #expect(report["errors"] as? [String: Int] == ["unacceptableStatus": 1])
            let configuration = try #require(report["configuration"] as? [String: Any])
            #expect(configuration["concurrency"] as? Int == 7 && configuration["rate"] as? Double == 1000)
            let latency = try #require(report["latency"] as? [String: Double])
            #expect(Set(latency.keys) == ["p50", "p90", "p95", "p99", "max"])
            #expect(latency.values.allSatisfy { $0 > 0 })
        }

        @Test func `Every key of the report stands in the documentation`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            _ = try await RunningTool.run(
                "run", server.url("/x").absoluteString, "--report", path, "--per-host", "1", "--rate", "1000",
                "--deadline", "60", "--method", "GET", "--input", "-")
            let report = try self.report()
            let configuration = try #require(report["configuration"] as? [String: Any])
            let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL
            let page = try String(
                contentsOf: root.appendingPathComponent(
                    "Sources/RequestOperations/RequestOperations.docc/CommandLine.md"),
                encoding: .utf8)
            let section = try #require(page.components(separatedBy: "## The report").last)
            #expect((Array(report.keys) + configuration.keys).filter { !section.contains("`\($0)`") } == [])
        }

        @Test func `The report is written after a signal too`() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let tool = try RunningTool(["run", server.url("/x").absoluteString, "--report", path])
            try await server.requests(atLeast: 1)
            tool.send(SIGINT)
            _ = try await tool.end()
            #expect(try report()["exitStatus"] as? Int == 130)
            #expect(try report()["cancelled"] as? Int == 1)
        }

        @Test(arguments: ["/dev/stdout", "/dev/stderr"])
        func `A report can go to a pipe`(_ path: String) async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--report", path)
            #expect(ended.status == 0)
            #expect((ended.output + ended.errors).contains(#""requestsPerSecond""#))
        }

        @Test func `A report to standard output follows the results, if that is a file`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let file = try TemporaryPath(content: "")
            let tool = try RunningTool(
                ["run", server.url("/x").absoluteString, "--report", "/dev/stdout"], after: "exec >'\(file.path)'")
            #expect(try await tool.end().status == 0)
            let output = try String(contentsOfFile: file.path, encoding: .utf8)
            #expect(output.hasPrefix("200 ") && output.contains(#""requestsPerSecond""#))
        }

        @Test func `A place where no report can be written is found before the run`() async throws {
            let server = try await LoopbackServer.start { _ in .text("") }
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--report", "/no/such/place")
            #expect(ended.status == 2)
            #expect(server.requests.isEmpty)
        }

        @Test func `Each report has the form that its suffix says`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let names = ["html", "har", "trace.json", "json"].map { "\(path).\($0)" }
            defer { for name in names { try? FileManager.default.removeItem(atPath: name) } }
            let ended = try await RunningTool.run(
                ["run", server.url("/x").absoluteString] + names.flatMap { ["--report", $0] })
            #expect(ended.status == 0)
            let texts = try names.map { try String(contentsOfFile: $0, encoding: .utf8) }
            #expect(texts[0].hasPrefix("<!doctype html>") && texts[1].contains("\"entries\""))
            #expect(texts[2].contains("\"traceEvents\"") && texts[3].contains("\"exitStatus\""))
        }

        @Test func `Downloads, uploads and queues write reports`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let folder = try TemporaryPath()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            let file = folder.path + "/file"
            try Data("x".utf8).write(to: URL(fileURLWithPath: file))
            let (url, queue) = (server.url("/x").absoluteString, ["--queue", "q", "--directory", folder.path])
            #expect(try await RunningTool.run(["queue", "add", url] + queue).status == 0)
            for arguments in [
                ["download", url, "--directory", folder.path], ["upload", file, url],
                ["queue", "run", "--drain"] + queue,
            ] {
                #expect(try await RunningTool.run(arguments + ["--report", path]).status == 0, "\(arguments)")
                #expect(try report()["requests"] as? Int == 1, "\(arguments)")
            }
        }

        @Test func `A JSON line has the phases of each attempt`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(503), .text("here"))
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--json")
            let line = try #require(JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
            let attempts = try #require(line["timeline"] as? [[String: Any]])
            #expect(attempts.map { $0["status"] as? Int } == [503, 200])
            #expect(attempts[1]["waitedFor"] as? String == "backoff" && attempts[1]["firstByte"] is Double)
        }

        @Test func `A format with the variables of curl prints a result`() async throws {
            let server = try await LoopbackServer.start { _ in .text("four") }
            let format = #"%{http_code} %{size_download} %{num_retries} %{urlnum} %{http_version}%%\n"#
            let ended = try await RunningTool.run("run", server.url("/x").absoluteString, "--write-out", format)
            #expect(ended.output == "200 4 0 0 1.1%\n")
        }

        @Test func `A variable that does not exist is an error that names those that do`() async throws {
            let ended = try await RunningTool.run("run", "http://127.0.0.1/", "--write-out", "%{nothing}")
            #expect(ended.status == 2 && ended.errors.contains("time_total"))
        }

        @Test func `Bodies are printed in place of results`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .text("one"))
            server.route("/y", .status(404))
            let urls = ["/x", "/y"].map { server.url($0).absoluteString }
            let ended = try await RunningTool.run(["run"] + urls + ["--body"])
            #expect(ended.output == "one" && ended.status == 1)
        }

        private func report() throws -> [String: Any] {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
    }
#endif
