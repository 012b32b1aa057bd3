#if CommandLineTool
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct QueueTextTests {
        private let place = QueuePlace()

        @Test func `A lane with control characters or spaces stays in its line and column`() async throws {
            let line = #"{"url": "http://a.example/1", "lane": "x\n7 dead 0 - \u001b[31m", "key": "k\nstate: dead"}"#
            let added = try await place.run("add", "http://a.example/2", "--lane", "a b", "--input", "-", input: line)
            #expect(added.lines == ["1", "2"])
            #expect(
                try await place.run("list").lines == [
                    #"1 pending 0 "a b" GET http://a.example/2"#,
                    #"2 pending 0 "x\n7 dead 0 - \u001b[31m" GET http://a.example/1"#,
                ])
            let shown = try await place.run("show", "2").lines
            #expect(shown.contains(#"lane: "x\n7 dead 0 - \u001b[31m""#))
            #expect(shown.contains(#"key: "k\nstate: dead""#))
            #expect(!shown.contains("state: dead"))
        }

        @Test func `Credentials that are stored are shown as redacted`() async throws {
            _ = try await place.run(
                "add", "http://u:p@a.example/1?token=t&q=1", "--store-credentials", "--header",
                "Authorization: Bearer x", "--header", "X-A: 1")
            #expect(
                try await place.run("list").lines == [
                    "1 pending 0 - GET http://redacted@a.example/1?token=redacted&q=1"
                ])
            let shown = try await place.run("show", "1").lines
            #expect(shown.contains("request: GET http://redacted@a.example/1?token=redacted&q=1"))
            #expect(shown.contains("Authorization: redacted") && shown.contains("X-A: 1"))
        }
    }
#endif
