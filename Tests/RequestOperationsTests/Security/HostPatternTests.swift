import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HostPatternTests {
    private func matches(_ pattern: String, _ host: String, _ port: Int = 443) throws -> Bool {
        try #require(HostPattern(pattern)).matches(host, port: port)
    }

    @Test(arguments: [
        ("api.example.com", "api.example.com"), ("API.example.com", "api.EXAMPLE.com"),
        ("api.example.com.", "api.example.com"),
        ("*.example.com", "a.example.com"), ("**.example.com", "a.example.com"), ("**.example.com", "a.b.example.com"),
        ("**.example.com", "example.com"), ("**.example.com:443", "Example.com."),
        ("192.0.2.1", "192.0.2.1"), ("[2001:db8::1]", "2001:db8:0::1"), ("2001:db8::1", "[2001:db8::1]"),
        ("**", "a.example"), ("**", "192.0.2.1"), ("**:443", "a"), ("api.example.com:443", "api.example.com"),
        ("[2001:db8::1]:443", "2001:db8::1"), ("[fe80::1]", "fe80::1%eth0"), ("127.0.0.1", "127.1"),
        ("127.0.0.1", "0x7f000001"), ("127.0.0.1", "2130706433"), ("127.0.0.1", "0177.0.0.1"),
    ]) func `A pattern matches its hosts`(_ pattern: String, _ host: String) throws {
        #expect(try matches(pattern, host))
    }

    @Test(arguments: [
        ("example.com", "a.example.com"), ("*.example.com", "example.com"), ("*.example.com", "a.b.example.com"),
        ("**.example.com", "aexample.com"), ("*.example.com", "aexample.com"), ("**.example.com", "com"),
        ("**.example.com", "a.example.com.evil"),
        ("**:8443", "api.example.com"), ("api.example.com:8443", "api.example.com"), ("*.0.2.1", "192.0.2.1"),
        ("192.0.2.1", "192.0.2.10"),
    ]) func `A pattern matches no others`(_ pattern: String, _ host: String) {
        #expect(!(HostPattern(pattern)?.matches(host, port: 443) ?? false))
    }

    @Test(arguments: [
        "", "*", "*.", "**.", "a.*.b", "*a.example.com", "***.a", "a:0", "a:65536", "a:b", "a/b", "a b", "a..b",
        "b\u{FC}cher.example", "[::1]x443", "*.192.0.2.1", ".",
    ])
    func `What is no pattern is refused`(_ text: String) {
        #expect(!HostPins.isPattern(text))
    }
}
