#if CommandLineTool
    import RequestOperations
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct ArgumentTests {
        @Test(arguments: [
            ["run"], ["run", "--bogus"], ["nonsense"], ["run", "http://a.example/", "--timeout", "0"],
            ["run", "http://a.example/", "--timeout=-1"], ["run", "http://a.example/", "--timeout", "nan"],
            ["run", "http://a.example/", "--deadline", "inf"], ["run", "http://a.example/", "--concurrency", "0"],
            ["run", "http://a.example/", "--per-host", "x"], ["run", "http://a.example/", "--retries=-1"],
            ["run", "http://a.example/", "--header", "nonsense"], ["run", "http://a.example/", "--method", "A B"],
            ["run", "http://a.example/", "--data", "@/no/such/file"],
            ["run", "http://a.example/", "--transport", "x"],
            ["run", "--input", "/no/such/file"], ["run", "--input", "/tmp"],
            ["run", "http://a.example/", "--output-directory", "/dev/null/x"],
            ["run", "http://a.example/", "--if-exists", "skip"],
        ])
        func `Arguments that cannot be used end with 2 before any request, and say why`(_ arguments: [String])
            async throws
        {
            let ended = try await RunningTool.run(arguments)
            #expect(ended.status == 2)
            #expect(ended.output == "")
            #expect(!ended.errors.isEmpty)
        }

        @Test(arguments: [["--help"], ["run", "--help"], ["help", "run"], ["--version"]])
        func `Help and version are no errors`(_ arguments: [String]) async throws {
            let ended = try await RunningTool.run(arguments)
            #expect(ended.status == 0)
            #expect(ended.errors == "")
            #expect(!ended.output.isEmpty)
        }

        @Test func `The demonstration needs no proxy, whatever the environment says`() async throws {
            let tool = try RunningTool(
                ["demo", "--requests", "10"], environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""])
            #expect(try await tool.end().status == 0)
        }

        @Test func `The demonstration runs to its end, with retries`() async throws {
            let ended = try await RunningTool.run("demo", "--requests", "200", "--results")
            #expect(ended.status == 0)
            #expect(ended.lines.count == 200)
            #expect(ended.errors.contains("200 succeeded, 0 failed"))
        }
    }
#else
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct BuildLineTests {
        @Test func `Without its trait the program prints how it is built and ends with 2`() async throws {
            let ended = try await RunningTool.run("run", "http://a.example/")
            #expect(ended.status == 2)
            #expect(ended.errors == "swift build -c release --traits CommandLineTool --product urlrequest\n")
        }
    }
#endif
