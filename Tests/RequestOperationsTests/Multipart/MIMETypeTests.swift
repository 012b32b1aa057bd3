import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct MIMETypeTests {
    @Test(arguments: [
        ("a.jpg", "image/jpeg"), ("a.tar.GZ", "application/gzip"), ("a.JSON", "application/json"),
        ("photo.heic", "image/heic"),
    ])
    func `The last extension tells`(_ name: String, _ type: String) {
        #expect(MIMEType.ofFile(named: name) == type)
    }

    @Test(arguments: ["a", "", "a.", ".", "a.unknown", "a.jpg\r\n"]) func `Any other is bytes`(_ name: String) {
        #expect(MIMEType.ofFile(named: name) == "application/octet-stream")
    }
}
