import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct FileDigestTests {
    // The examples of FIPS 180-2, appendix B and C.
    private let abc256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private let abc512 = """
        ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd\
        454d4423643ce80e2a9ac94fa54ca49f
        """

    @Test func `SHA-256 is right`() {
        #expect(SHA2.digest(of: "abc").hexadecimal == abc256)
    }

    @Test func `SHA-512 is right`() {
        #expect(SHA2.digest(of: "abc", .sha512).hexadecimal == abc512)
    }

    @Test func `A digest can be asked for while bytes are added`() {
        let hash = SHA2(.sha256)
        hash.update(Data("a".utf8))
        _ = hash.digest
        hash.update(Data())
        hash.update(Data("bc".utf8))
        #expect(hash.digest.hexadecimal == abc256)
    }

    @Test func `The digits of a digest may have any case`() {
        #expect(FileDigest.sha256(hex: abc256.uppercased()) == FileDigest.sha256(hex: abc256))
    }

    @Test(arguments: ["", "ba78", "+a", "zz", "é"])
    func `A text that is no digest is not valid`(_ text: String) {
        #expect(!FileDigest.sha256(hex: text).isValid && !FileDigest.sha512(hex: text).isValid)
    }

    @Test func `The strongest digest of a field counts`() {
        let base256 = Data(hexadecimal: abc256)!.base64EncodedString()
        let base512 = Data(hexadecimal: abc512)!.base64EncodedString()
        #expect(
            FileDigest.strongest(inField: "sha-512=:\(base512):, sha-256=:\(base256):") == .sha512(hex: abc512))
        #expect(FileDigest.strongest(inField: "md5=:AA==:, sha-256=:\(base256):;q=1") == .sha256(hex: abc256))
    }

    @Test func `A comma in a string ends no member`() {
        let base256 = Data(hexadecimal: abc256)!.base64EncodedString()
        let other = Data(count: 32).base64EncodedString()
        for field in [
            "note=\"a, sha-256=:\(other):\", sha-256=:\(base256):",
            "sha-256=:\(base256):;note=\"a, sha-256=:\(other):\"",
            "sha-256=:\(base256):, note=\"\\\", sha-256=:\(other):\"",
            "sha-256=:\(base256):\t,\tnote=\"a, sha-256=:\(other):",
        ] {
            #expect(FileDigest.strongest(inField: field) == .sha256(hex: abc256))
        }
    }

    // RFC 8941, section 4.2.7: a parser should not fail for either.
    @Test func `Base64 is read without padding, and with bits in it`() {
        let whole = Data(hexadecimal: abc256)!.base64EncodedString()
        let bare = whole.prefix(43)
        #expect(FileDigest.strongest(inField: "sha-256=:\(bare):") == .sha256(hex: abc256))
        #expect(whole.hasSuffix("0="))
        for text in ["\(bare.dropLast())1", "\(bare.dropLast())3="] {
            #expect(FileDigest.strongest(inField: "sha-256=:\(text):") == .sha256(hex: abc256))
        }
    }

    @Test(arguments: [
        "", "sha-256", "sha-256=", "sha-256=:", "sha-256=:AAAA:", "sha-256=AAAA", "unixsum=:AAAA:", ":::,,=",
    ])
    func `A digest that cannot be read is skipped`(_ field: String) {
        #expect(FileDigest.strongest(inField: field) == nil)
    }
}
