#if CommandLineTool
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct QueueWatchTests {
        private let place = QueuePlace()

        @Test func `Lines follow the queue until it is empty`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            _ = try await place.run("add", server.url("/1").absoluteString)
            let watch = try place.start(["watch", "--until-empty"])
            #expect(await watch.output(lines: 1).hasPrefix("1 pending, 0 waiting, 0 in flight, 0 dead; "))
            _ = try await place.run("run", "--drain")
            let ended = try await watch.end()
            #expect(ended.status == 0 && ended.lines.last?.contains("last hour 1 delivered") == true, "\(ended)")
            #expect(!ended.output.contains("\u{1B}") && server.requests.count == 1)
        }

        @Test func `Dead letters make the status 1, and Ctrl-C 130`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(404) }
            _ = try await place.run("add", server.url("/1").absoluteString)
            _ = try await place.run("run", "--drain")
            #expect(try await place.run("watch", "--until-empty").status == 1)
            let watch = try place.start(["watch"])
            await watch.output(lines: 1)
            watch.send(SIGINT)
            #expect(try await watch.end().status == 130)
        }

        @Test func `A terminal shows lanes and hosts, and is drawn over`() async throws {
            _ = try await place.run("add", "http://a.example/1", "--lane", "a\u{1B}[31mb")
            let terminal = try Terminal()
            // The shell gives the terminal as standard output.
            let watch = try RunningTool(
                ["queue", "watch", "--queue", "q", "--directory", place.directory], environment: ["TERM": "xterm"],
                errors: terminal.slave, after: "exec >&2")
            let first = await terminal.text(upTo: "hosts:")
            #expect(
                first.contains("1 pending") && first.contains(#"1  "a\u001b[31mb""#) && !first.contains("\u{1B}[31m"))
            _ = try await place.run("add", "http://b.example/1")
            let second = await terminal.text(upTo: "2 pending")
            #expect(second.contains("\u{1B}[8F"))
            watch.send(SIGTERM)
            #expect(try await watch.end().status == 143)
        }

        @Test func `A picture with more rows than the terminal shows its beginning, in place`() async throws {
            let lines = (1...10).map { #"{"url": "http://\#($0).example/", "lane": "\#($0)"}"# }
            _ = try await place.run("add", "--input", "-", input: lines.joined(separator: "\n"))
            // It has 24 rows.
            let terminal = try Terminal()
            let watch = try RunningTool(
                ["queue", "watch", "--queue", "q", "--directory", place.directory], environment: ["TERM": "xterm"],
                errors: terminal.slave, after: "exec >&2")
            _ = await terminal.text(upTo: "hosts:")
            _ = try await place.run("add", "http://11.example/", "--lane", "11")
            let text = await terminal.text(upTo: "11 pending")
            #expect(text.contains("\u{1B}[22F") && text.components(separatedBy: "\n").count <= 46)
            watch.send(SIGTERM)
            #expect(try await watch.end().status == 143)
        }
    }
#endif
