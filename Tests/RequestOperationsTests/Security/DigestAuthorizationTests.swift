import Testing

@testable import RequestOperations

/// The examples of RFC 7616, section 3.9. Its second one does not use SHA-512/256 (erratum 4897), so the values of that one are
/// those that `openssl dgst` computes.
@Suite(.timeLimit(.minutes(10))) struct DigestAuthorizationTests {
    private func digest(_ parameters: [String: String]) throws -> DigestAuthorization {
        try #require(DigestAuthorization(AuthenticationChallenge(scheme: "digest", parameters: parameters)))
    }

    private let first = [
        "realm": "http-auth@example.org", "qop": "auth, auth-int",
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
    ]

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]) func `The first example has its response`(_ algorithm: String, _ response: String) throws {
        let field = try digest(first.merging(["algorithm": algorithm]) { $1 })
            .field(
                user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html", count: 1,
                clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(
            field == """
                Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", algorithm=\(algorithm), response="\(response)", \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
                """)
    }

    @Test func `The second example hides its user`() throws {
        let field = try digest([
            "realm": "api@example.org", "qop": "auth", "algorithm": "SHA-512-256", "charset": "UTF-8",
            "userhash": "true",
            "nonce": "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK",
            "opaque": "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS",
        ]).field(
            user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?", method: "GET", target: "/doe.json", count: 1,
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
        #expect(
            try #require(field).contains(
                #"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", userhash=true"#))
        #expect(
            try #require(field).contains(
                #"response="7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c""#))
    }

    // The values are those of `openssl dgst`, by RFC 7616, section 3.4.2.
    @Test(arguments: [
        ("MD5-sess", "e783283f46242139c486a698fec7211d"),
        ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
    ]) func `The key of a session has both nonces`(_ algorithm: String, _ response: String) throws {
        let field = try digest(first.merging(["algorithm": algorithm]) { $1 })
            .field(
                user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html", count: 1,
                clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(try #require(field).contains("algorithm=\(algorithm), response=\"\(response)\""))
    }

    @Test func `A challenge without a quality is answered as in RFC 2069`() throws {
        let field = try #require(
            try digest(["realm": "testrealm@host.com", "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093"])
                .field(
                    user: "Mufasa", password: "Circle Of Life", method: "GET", target: "/dir/index.html", count: 1,
                    clientNonce: "x"))
        #expect(field.contains(#"response="670fd8c2df070c60b045671b8b24ff02""#))
        #expect(!field.contains("nc=") && !field.contains("qop"))
    }

    @Test(arguments: [
        ["realm": "a"], ["nonce": "a", "algorithm": "SHA-1"], ["nonce": "a", "qop": "auth-int"],
        ["nonce": "a", "algorithm": "MD5-sess"], ["nonce": "a", "qop": "auth", "algorithm": "SHA-1-sess"],
    ]) func `What is not known is not answered`(_ parameters: [String: String]) {
        #expect(DigestAuthorization(AuthenticationChallenge(scheme: "digest", parameters: parameters)) == nil)
    }

    @Test func `Nothing that the server sends breaks out of its quotation marks`() throws {
        let field = try #require(
            try digest(["realm": "a\"\r\nX: y", "nonce": "\\"])
                .field(user: "u\"", password: "p", method: "GET", target: "/", count: 1, clientNonce: "c"))
        #expect(
            field.contains(#"username="u\"""#) && field.contains(#"realm="a\"X: y""#) && field.contains(#"nonce="\\""#))
        #expect(!field.unicodeScalars.contains { $0.value < 0x20 })
    }

    // The response is that of Python's hashlib, over the bytes of UTF-8.
    @Test func `A user beyond ASCII goes as it is to a server that names no charset`() throws {
        let field = try #require(
            try digest(["realm": "a", "nonce": "n", "qop": "auth"])
                .field(
                    user: "j\u{E4}s\u{F8}n", password: "p", method: "GET", target: "/", count: 1, clientNonce: "c"))
        #expect(field.contains("username=\"j\u{E4}s\u{F8}n\", ") && !field.contains("username*"))
        #expect(field.contains("response=\"47adbf103d952e000ba4ee56e76d1b26\""))
    }

    @Test func `A user beyond ASCII is encoded for UTF-8, and the counter has eight digits`() throws {
        let field = try #require(
            try digest(["realm": "a", "nonce": "n", "qop": "auth", "charset": "utf-8"])
                .field(user: "\u{E9}", password: "p", method: "GET", target: "/", count: 255, clientNonce: "c"))
        #expect(field.contains("username*=UTF-8''%C3%A9") && field.contains("nc=000000ff"))
    }
}

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
