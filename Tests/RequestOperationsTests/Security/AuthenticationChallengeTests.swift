import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct AuthenticationChallengeTests {
    private func schemes(_ field: String) -> [String] { AuthenticationChallenge.list(in: field).map(\.scheme) }

    @Test func `A field may have several challenges with parameters`() {
        let field = #"Newauth realm="apps", type=1, title="Login, \"now\"", Basic realm="simple""#
        let challenges = AuthenticationChallenge.list(in: field)
        #expect(challenges.map(\.scheme) == ["newauth", "basic"])
        #expect(challenges[0].parameters == ["realm": "apps", "type": "1", "title": #"Login, "now""#])
        #expect(challenges[1].realm == "simple")
    }

    @Test(arguments: [
        ("Basic", ["basic"]), ("Negotiate, Basic realm=x", ["negotiate", "basic"]), ("", []), (", ,", []),
        ("Negotiate YII/+a==, Digest nonce=\"n\"", ["negotiate", "digest"]),
        ("Bearer\t realm = \"a\" ,Basic", ["bearer", "basic"]),
        ("=x", []), ("Basic realm=\"open", ["basic"]), ("Basic realm=, Digest nonce=a", []), ("\u{1F600}", []),
    ]) func `What can be read is read`(_ field: String, _ expected: [String]) {
        #expect(schemes(field).prefix(expected.count) == expected[...])
    }

    @Test(arguments: [
        (#"Custom {x}, Basic realm="a""#, ["basic a"]), (#"Basic realm="a", Custom {x}"#, ["basic a"]),
        (#"Custom {x}, realm="b", Basic realm="a""#, ["basic a"]),
        (#"Digest realm={}, nonce="n", Basic realm="a""#, ["basic a"]),
        (#"Digest nonce="n", qop={auth}, opaque="o", Basic realm="a""#, ["basic a"]),
        (#"Custom {x="b, Basic realm=c"}, Basic realm="a""#, ["basic a"]),
        (#"Basic realm="a"; charset="UTF-8", Bearer realm=b"#, ["bearer b"]),
        (#"=x, {}, Basic realm="a", ,"#, ["basic a"]), (#"realm="b", Basic realm="a""#, ["basic a"]),
        (#"Basic realm="a"#, ["basic a"]), ("Custom {\"", []), ("\u{1F600}, Bearer realm=a", ["bearer a"]),
    ]) func `A challenge that cannot be read is left out, and no other`(_ field: String, _ expected: [String]) {
        #expect(AuthenticationChallenge.list(in: field).map { "\($0.scheme) \($0.realm ?? "")" } == expected)
    }

    @Test func `Of several parameters with one name the first counts`() {
        #expect(AuthenticationChallenge.list(in: "Basic REALM=a, realm=b")[0].realm == "a")
    }

    @Test func `All fields of a response count`() {
        let head = ResponseHead(
            status: 401, url: URL(string: "https://a.example/")!,
            fields: [("WWW-Authenticate", "Negotiate"), ("www-authenticate", "Basic realm=a")].map {
                (name: $0, value: $1)
            },
            version: .http1_1)
        #expect(AuthenticationChallenge.list(in: head).map(\.scheme) == ["negotiate", "basic"])
    }
}
