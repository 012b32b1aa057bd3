import Foundation
import RequestOperationsTesting
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct LoadTests {
    // The peak is that of a process: these two have one of their own.

    @Test func `A gibibyte is downloaded without being held in memory`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LoopbackServer.start { _ in .large(byteCount: 1 << 30) }
            let curl = try await Curl.get(server.url, "--output", "/dev/null", "--write-out", "%{size_download}")
            #expect(curl.exitCode == .success)
            #expect(curl.text == "1073741824")
            #expect(try #require(ResidentMemory.peak()) < 1 << 29)
        }
    }

    @Test func `A large body is the pattern throughout`() async throws {
        let server = try await LoopbackServer.start { _ in .large(byteCount: 1_000_003) }
        #expect(try await Curl.get(server.url).output == pattern(1_000_003))
    }

    @Test func `A large file is uploaded without being held in memory`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LoopbackServer.start()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try Data().write(to: file)
            // A file that is one hole takes no room on the disk.
            try FileHandle(forWritingTo: file).truncate(atOffset: 1 << 28)
            let curl = try await Curl.get(server.url, "--upload-file", file.path, "--write-out", "%{size_upload}")
            #expect(curl.text == "268435456")
            #expect(server.requests.map(\.bodyByteCount) == [1 << 28])
            #expect(server.requests.map(\.isBodyComplete) == [true])
            #expect(server.requests[0].body.isEmpty)
            #expect(try #require(ResidentMemory.peak()) < 1 << 27)
        }
    }

    @Test func `An endless body waits for its reader and ends with it`() async throws {
        let server = try await LoopbackServer.start { _ in .endless(chunk: Data("again ".utf8)) }
        let curl = try await Curl.get(server.url, "--max-time", "2", "--limit-rate", "100K")
        #expect(curl.exitCode == .timedOut)
        #expect(curl.text.hasPrefix("again again "))
        let ended = try await server.connectionsClosed(atLeast: 1)[0]
        #expect([.closedByPeer, .resetByPeer].contains(ended.end))
        // The reader has taken 200 KiB; the rest lay in the buffers of the system, which grow to 32 MiB for receiving and 4 MiB
        // for sending where Linux may let them.
        #expect(ended.bytesSent < 40_000_000)
    }

    @Test func `A thousand connections are served at a time`() async throws {
        let gate = LoopbackServer.Gate()
        let server = try await LoopbackServer.start { _ in .held(by: gate, then: .text("ok")) }
        let curls = try (1...4).map { _ in
            try Curl.start(["--parallel", "--parallel-immediate", "--parallel-max", "250", "\(server.url)/[1-250]"])
        }
        try await server.requests(atLeast: 1000, timeout: .seconds(60))
        #expect(server.openConnectionCount == 1000)
        #expect(server.maximumConcurrentRequests == 1000)
        gate.open()
        for curl in curls { #expect(await curl.status == 0) }
        let ended = try await server.connectionsClosed(atLeast: 1000, timeout: .seconds(60))
        #expect(ended.map(\.requestsServed).reduce(0, +) == 1000)
    }

    @Test func `A thousand requests share one connection`() async throws {
        let server = try await LoopbackServer.start { _ in .text("ok") }
        let curl = try await Curl.run(["\(server.url)/[1-1000]"])
        #expect(curl.text == String(repeating: "ok", count: 1000))
        #expect(server.connections.map(\.requestsServed) == [1000])
    }
}
