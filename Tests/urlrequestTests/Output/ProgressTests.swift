#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct ProgressTests {
        @Test func `A terminal gets a bar that is gone before the summary`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start {
                $0.path == "/2" ? .held(by: gate, then: .text("")) : .text("")
            }
            let terminal = try Terminal()
            let tool = try RunningTool(
                ["run", server.url("/1").absoluteString, server.url("/2").absoluteString],
                environment: ["TERM": "xterm"], errors: terminal.slave)
            let bar = await terminal.text(upTo: "1 of 2")
            #expect(bar.contains("\r[█"))
            gate.open()
            _ = try await tool.end()
            let all = await terminal.text(upTo: "max ")
            #expect(all.contains("\r\u{1B}[Jurlrequest: 2 requests in "))
        }

        @Test func `What makes no request is no part of the total`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start {
                $0.path == "/2" ? .held(by: gate, then: .text("")) : .text("")
            }
            let input = try TemporaryPath(content: "\n\n\(server.url("/1"))\nnonsense\n\(server.url("/2"))\n\n")
            let terminal = try Terminal()
            let tool = try RunningTool(
                ["run", "nonsense", "--input", input.path], environment: ["TERM": "xterm"], errors: terminal.slave)
            _ = await terminal.text(upTo: "1 of 2")
            gate.open()
            #expect(try await tool.end().status == 2)
        }

        @Test
        func `No progress is shown when it is not wanted`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(500), then: .text("")) }
            let terminal = try Terminal()
            let tool = try RunningTool(
                ["run", server.url("/1").absoluteString, "--no-progress"], environment: ["TERM": "xterm"],
                errors: terminal.slave)
            _ = try await tool.end()
            #expect(await terminal.text(upTo: "max ").hasPrefix("urlrequest: 1 request in "))
        }

        @Test func `A watch shows the hosts below the bar`() async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start {
                $0.path == "/1"
                    ? .status(503, fields: ["Retry-After": "60"]) : .held(by: gate, then: .text(""))
            }
            let terminal = try Terminal()
            let tool = try RunningTool(
                ["run", "--watch", "--concurrency", "1", "--no-early-retry"]
                    + ["/1", "/2", "/3"].map { server.url($0).absoluteString },
                environment: ["TERM": "xterm"], errors: terminal.slave)
            // The first one waits for its Retry-After. The others wait for their host before they are sent.
            let text = await terminal.text(upTo: "host 2  retry after 1")
            #expect(text.contains("http://127.0.0.1:\(server.port)  0 in flight"))
            tool.send(SIGINT)
            #expect(try await tool.end().status == 130)
        }

        @Test func `What is no terminal gets no bar`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(300), then: .text("")) }
            let ended = try await RunningTool.run("run", server.url("/1").absoluteString)
            #expect(!ended.errors.contains("\r") && !ended.errors.contains("\u{1B}"))
        }
    }
#endif
