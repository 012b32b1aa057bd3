import Foundation
import RequestOperationsTesting
import Testing

@Suite struct LoopbackServerTests {
    @Test func anUnroutedPathAnswers404() async throws {
        let server = try await LoopbackServer.start()
        let curl = try await Curl.get(server.url("/nothing"), "--write-out", "%{http_code}")
        #expect(curl.exitCode == .success)
        #expect(curl.text == "404")
    }

    @Test func aRouteGivesItsResponsesInTurnAndThenRepeatsTheLast() async throws {
        let server = try await LoopbackServer.start()
        server.route("/users", .status(503), .status(429), .text("Ada"))
        let url = server.url("/users").absoluteString
        let curl = try await Curl.run(["--write-out", "%{http_code} ", url, url, url, url])
        #expect(curl.text == "503 429 Ada200 Ada200 ")
    }
}
