import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct ServerPinTests {
    private static let base64 = "YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="

    @Test func `Both forms of a key's pin are read, and written as the shorter one`() throws {
        let pins = try ["sha256/", "sha256//"].map { try #require(ServerPin($0 + Self.base64)) }
        #expect(pins[0] == pins[1] && pins[0].kind == .key && pins[0].description == "sha256/" + Self.base64)
    }

    @Test func `A digest whose Base64 begins with a slash is read in both forms`() throws {
        let base64 = "/geKPzFHtvEvXt0b05KiEjbUZpnpPtiNkJjytOeSSRM="
        for mark in ["sha256/", "sha256//"] {
            let pin = try #require(ServerPin(mark + base64))
            #expect(pin.digest == Data(base64Encoded: base64))
        }
    }

    @Test(arguments: ["", base64, "sha1/AAAA", "sha256/", "sha256/AAAA", "sha256/\(base64)x", "sha512/\(base64)"])
    func `Other texts are no pins`(_ text: String) {
        #expect(ServerPin(text) == nil)
    }

    @Test(arguments: [
        "", "a", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "0\u{2}0\u{0}", "0\u{80}",
    ])
    func `What is no certificate has no pin`(_ text: String) {
        #expect(ServerPin.key(of: Data(text.utf8)) == nil && ServerPin.certificate(Data(text.utf8)) == nil)
    }

    @Test func `A certificate that is cut short has no pins`() {
        // Five elements, the key, an algorithm, a signature.
        let least = Data("0\u{15}0\u{F}\u{2}\u{1}\u{1}0\00\00\00\00\u{2}\u{5}\00\0\u{3}\0".utf8)
        #expect(PinCheck.Certificate(der: least)?.key.digest == SHA2.digest(of: Data([0x30, 2, 5, 0])))
        for length in 0..<least.count { #expect(PinCheck.Certificate(der: least.prefix(length)) == nil) }
    }

    @Test func `An empty file has no certificate`() {
        #expect(CertificateFile.certificates(in: Data()).isEmpty)
    }

    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        @Test func `A certificate in PEM and in DER has the pin that OpenSSL computes`() throws {
            let secure = SecureServers.shared
            let expected = try #require(ServerPin(secure.pin))
            let der = try #require(CertificateFile.certificates(in: secure.data("good.pem")).first)
            #expect(ServerPin.key(of: secure.data("good.pem")) == expected && ServerPin.key(of: der) == expected)
            #expect(ServerPin.certificate(der)?.digest == SHA2.digest(of: der))
        }

        /// A certificate of a server whose comment is the text of another certificate, in DER.
        private static func embedding(_ pem: String) throws -> Data {
            let folder = try DownloadFolder()
            let comment = pem.filter { !$0.isNewline }
            try folder.write(
                """
                [req]
                distinguished_name = name
                [name]
                [own]
                nsComment = "\(comment)"
                """, to: "openssl.cnf")
            let openssl = Process()
            openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            openssl.currentDirectoryURL = folder.url
            openssl.arguments = [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-subj", "/CN=evil",
                "-config", "openssl.cnf", "-extensions", "own", "-outform", "DER", "-out", "evil.der",
            ]
            openssl.standardError = FileHandle.nullDevice
            try openssl.run()
            openssl.waitUntilExit()
            return try Data(contentsOf: folder.file("evil.der"))
        }

        @Test func `A certificate with the text of a pinned one in it does not have its pins`() throws {
            let pem = SecureServers.shared.data("good.pem")
            let der = try Self.embedding(String(decoding: pem, as: UTF8.self))
            let pinned = try #require(ServerPin.key(of: pem))
            let text = String(decoding: der, as: UTF8.self)
            let begin = try #require(text.range(of: "-----BEGIN CERTIFICATE-----")).lowerBound
            #expect(ServerPin.key(of: Data(text[begin...].utf8)) == pinned)
            let certificate = try #require(PinCheck.Certificate(der: der))
            #expect(certificate.key != pinned && certificate.whole != ServerPin.certificate(pem))
            #expect(certificate.whole.digest == SHA2.digest(of: der))
            // Nor has it as a file of the program.
            #expect(ServerPin.key(of: der) == certificate.key && ServerPin.certificate(der) == certificate.whole)
        }

        @Test func `The pins of a certificate that a server sent are those of its DER`() throws {
            let pem = SecureServers.shared.data("good.pem")
            let der = try #require(CertificateFile.certificates(in: pem).first)
            let certificate = try #require(PinCheck.Certificate(der: der))
            #expect(certificate.key == ServerPin.key(of: pem) && certificate.whole == ServerPin.certificate(pem))
            #expect(PinCheck.Certificate(der: pem) == nil)
        }

        @Test func `The pins of a folder are those of its certificates`() throws {
            let folder = try DownloadFolder()
            let secure = SecureServers.shared
            let der = try #require(CertificateFile.certificates(in: secure.data("other.pem")).first)
            try der.write(to: folder.file("a.cer"))
            try secure.data("chained.pem").write(to: folder.file("b.pem"))
            try folder.write("text", to: "c.txt")
            try folder.write("no certificate", to: "d.cer")
            let expected = ["other.pem", "leaf.pem", "middle.pem"].compactMap { ServerPin.key(of: secure.data($0)) }
            #expect(try ServerPin.keys(inFolder: folder.url) == expected && expected.count == 3)
        }
    #endif
}

@Suite(.timeLimit(.minutes(10))) struct PinCheckTests {
    private func pin(_ byte: UInt8, _ kind: ServerPin.Kind = .key) -> ServerPin {
        ServerPin(kind, Data(repeating: byte, count: 32))
    }

    /// A chain whose keys have these bytes, and whose certificates have these and 100.
    private func chain(_ bytes: UInt8...) -> [PinCheck.Certificate] {
        bytes.map { PinCheck.Certificate(key: pin($0), whole: pin($0 + 100, .certificate)) }
    }

    private func verdict(_ pins: [HostPins], _ chain: [PinCheck.Certificate], host: String = "a.example")
        -> PinCheck.Verdict
    {
        PinCheck(pins).verdict(on: chain, of: host, port: 443, at: Date(timeIntervalSince1970: 1000))
    }

    @Test func `A host without pins passes`() {
        #expect(verdict([.host("b.example", keys: [pin(1)])], chain(2)) == PinCheck.Verdict())
        #expect(verdict([], chain(2)) == PinCheck.Verdict())
    }

    @Test func `A key or a certificate anywhere in the chain passes`() {
        #expect(verdict([.host("a.example", keys: [pin(9), pin(2)])], chain(1, 2, 3)).failure == nil)
        #expect(verdict([.host("a.example", keys: [pin(103, .certificate)])], chain(1, 2, 3)).failure == nil)
        // The digest of a certificate is none of a key.
        #expect(verdict([.host("a.example", keys: [pin(103)])], chain(1, 2, 3)).failure != nil)
    }

    @Test func `The pins of all patterns that are enforced count together`() {
        let pins: [HostPins] = [.host("*.example", keys: [pin(1)]), .host("a.example", keys: [pin(2)])]
        #expect(verdict(pins, chain(1)).failure == nil && verdict(pins, chain(2)).failure == nil)
        let report = PinReport(host: "a.example", presented: [pin(3)], expected: [pin(1), pin(2)])
        #expect(verdict(pins, chain(3)) == PinCheck.Verdict(failure: report))
    }

    @Test func `No pins and no chain trust nobody`() {
        #expect(verdict([.host("a.example", keys: [])], chain(1)).failure != nil)
        #expect(verdict([.host("a.example", keys: [pin(1)])], []).failure != nil)
    }

    @Test func `Pins end at their date`() {
        let (before, after) = (Date(timeIntervalSince1970: 999), Date(timeIntervalSince1970: 1001))
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: before)], chain(2)).failure == nil)
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: after)], chain(2)).failure != nil)
    }

    @Test func `Pins on trial change nothing of those that are enforced, and are told apart`() {
        let trial = HostPins.host("**.example", keys: [pin(1)], .reportOnly { _ in })
        let old = HostPins.host("a.example", keys: [pin(2)])
        // The new pin alone does not open the door.
        #expect(verdict([trial, old], chain(1)).failure != nil && verdict([trial, old], chain(1)).reports.isEmpty)
        // The old pin does, and the trial is told.
        let verdict = verdict([trial, old], chain(2))
        #expect(verdict.failure == nil && verdict.reports.map(\.report.expected) == [[pin(1)]])
        #expect(self.verdict([trial], chain(3)).failure == nil && self.verdict([trial], chain(3)).reports.count == 1)
    }

    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        @Test func `A host with one pin has no backup, and those of one host count together`() {
            let (first, second) = (pin(1), pin(2))
            let pins: [HostPins] = [
                .host("one", keys: [first]), .host("twice", keys: [first, first]), .host("two", keys: [first]),
                .host("two", keys: [second]), .host("over", keys: [first], expires: .distantPast),
                .host("tried", keys: [first], .reportOnly { _ in }),
            ]
            #expect(ChainJudge.hostsWithoutBackup(pins, at: Date()) == ["one", "twice"])
        }
    #endif
}

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
