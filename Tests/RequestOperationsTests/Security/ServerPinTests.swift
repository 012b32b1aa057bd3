import Testing

@testable import RequestOperations

@Suite struct ServerPinTests {
    private static let base64 = "YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="

    @Test func `Both forms of a key's pin are read, and written as the shorter one`() throws {
        let pins = try ["sha256/", "sha256//"].map { try #require(ServerPin($0 + Self.base64)) }
        #expect(pins[0] == pins[1] && pins[0].kind == .key && pins[0].description == "sha256/" + Self.base64)
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

    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        @Test func `A certificate in PEM and in DER has the pin that OpenSSL computes`() throws {
            let secure = SecureServers.shared
            let expected = try #require(ServerPin(secure.pin))
            let der = try #require(CertificateFile.certificates(in: secure.data("good.pem")).first)
            #expect(ServerPin.key(of: secure.data("good.pem")) == expected && ServerPin.key(of: der) == expected)
            #expect(ServerPin.certificate(der)?.digest == SHA2.digest(of: der))
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
