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
