import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConditionTests {
    @Test func `Basic credentials are demanded and recognised`() async throws {
        let server = try await LoopbackServer.start { _ in
            .requiringBasic(user: "ada", password: "pass:wörd", then: .text("in"))
        }
        let without = try await Curl.get(server.url, "--include")
        #expect(without.text.hasPrefix("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="))
        #expect(try await Curl.get(server.url, "--user", "ada:pass:wörd").text == "in")
        #expect(try await Curl.get(server.url, "--fail", "--user", "ada:other").exitCode == .httpError)
        // --anyauth asks first, and answers the challenge on the same connection.
        let before = server.connections.count
        #expect(try await Curl.get(server.url, "--anyauth", "--user", "ada:pass:wörd").text == "in")
        #expect(server.connections.dropFirst(before).map(\.requestsServed) == [2])
    }

    @Test func `A bearer token is demanded and recognised`() async throws {
        let server = try await LoopbackServer.start { _ in .requiringBearer("token-1", then: .text("in")) }
        #expect(
            try await Curl.get(server.url, "--include").text.contains("401 Unauthorized\r\nWWW-Authenticate: Bearer"))
        #expect(try await Curl.get(server.url, "--oauth2-bearer", "token-1").text == "in")
        #expect(try await Curl.get(server.url, "--fail", "--oauth2-bearer", "token-2").exitCode == .httpError)
    }

    @Test func `An echo tells the request as JSON`() async throws {
        let server = try await LoopbackServer.start { _ in .echo }
        let curl = try await Curl.get(
            server.url("/a%20b?c=d"), "--request", "PUT", "--header", "X-One: 1", "--header", "x-one: 2",
            "--data-binary", "hé\"llo")
        let echo = try #require(try JSONSerialization.jsonObject(with: curl.output) as? [String: Any])
        #expect(echo["method"] as? String == "PUT")
        #expect(echo["target"] as? String == "/a%20b?c=d")
        #expect(echo["body"] as? String == "hé\"llo")
        #expect(echo["byteCount"] as? Int == 7)
        let fields = try #require(echo["fields"] as? [[String: String]])
        #expect(fields.first == ["name": "Host", "value": "127.0.0.1:\(server.port)"])
        #expect(fields.filter { $0["name"]?.lowercased() == "x-one" }.map { $0["value"] } == ["1", "2"])
    }

    @Test func `An echo of binary is base64`() async throws {
        let server = try await LoopbackServer.start { _ in .echo }
        let curl = try await Curl.get(server.url, "--data-binary", "@-", input: Data([0xFF, 0x00]))
        #expect(curl.text.contains(#""bodyBase64":"/wA=""#))
    }

    @Test(arguments: [
        ("0-3", "206 bytes 0-3/10", "0123"),
        ("4-", "206 bytes 4-9/10", "456789"),
        ("-2", "206 bytes 8-9/10", "89"),
        ("-20", "206 bytes 0-9/10", "0123456789"),
        ("8-99", "206 bytes 8-9/10", "89"),
        ("10-", "416 bytes */10", ""),
        ("0-1,4-5", "200 ", "0123456789"),
        ("+1-3", "200 ", "0123456789"),
    ])
    func `A file answers a range of bytes`(_ range: String, _ expected: String, _ body: String) async throws {
        let server = try await LoopbackServer.start { _ in .file(Data("0123456789".utf8)) }
        let curl = try await Curl.get(
            server.url, "--range", range, "--write-out", "\n%{http_code} %header{content-range}")
        #expect(curl.text == "\(body)\n\(expected)")
    }

    @Test(arguments: [
        ("\"v1\"", "206"), ("\"v2\"", "200"), ("W/\"v1\"", "200"), ("Sun, 06 Nov 1994 08:49:37 GMT", "206"),
        ("Sun, 06 Nov 1994 08:49:38 GMT", "200"),
    ])
    func `If range sends the whole unless the file is the same`(_ condition: String, _ status: String) async throws {
        let server = try await LoopbackServer.start { _ in
            .file(Data("0123456789".utf8), etag: "\"v1\"", lastModified: Date(timeIntervalSince1970: 784_111_777))
        }
        let curl = try await Curl.get(
            server.url, "--range", "5-", "--header", "If-Range: \(condition)", "--write-out", " %{http_code}")
        #expect(curl.text == (status == "206" ? "56789 206" : "0123456789 200"))
    }

    @Test func `Curl resumes a download`() async throws {
        let content = pattern(100_000)
        let server = try await LoopbackServer.start { _ in .file(content) }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try content.prefix(30_000).write(to: file)
        let curl = try await Curl.get(
            server.url, "--continue-at", "-", "--output", file.path, "--write-out", "%{http_code} %{size_download}")
        #expect(curl.text == "206 70000")
        #expect(try Data(contentsOf: file) == content)
    }
}
