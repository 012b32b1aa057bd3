import Foundation
import Testing

@testable import RequestOperations

struct RequestPreflightTests {
    /// The delimiters and the space are those of RFC 9110, section 5.6.2; what they leave of the visible ASCII is a token.
    @Test func `A token is made of visible characters of ASCII that are no delimiters`() {
        let delimiters = Set(#""(),/:;<=>?@[\]{}"#.utf8)
        for byte in UInt8.min...UInt8.max {
            let isExpected = (0x21...0x7E).contains(byte) && !delimiters.contains(byte)
            #expect(byte.isTokenCharacter == isExpected)
            #expect(Unicode.Scalar(byte).isTokenScalar == isExpected)
        }
        #expect(RequestPreflight.isToken("a!") && !RequestPreflight.isToken("") && !RequestPreflight.isToken("ä"))
    }

    private func code(_ url: String, method: String = "GET", fields: [String: String] = [:]) -> RequestError.Code? {
        guard let url = URL(string: url) else { return .badURL }
        var request = URLRequest(url: url)
        request.httpMethod = method
        // `setValue(_:forHTTPHeaderField:)` drops an invalid value on Linux without a word.
        request.allHTTPHeaderFields = fields
        do {
            try RequestPreflight.check(.data(request), schemes: ["http", "https", "data"])
            return nil
        } catch {
            return ((error as? TransferFailure)?.error as? RequestError)?.code
        }
    }

    @Test func `An ordinary request passes`() {
        #expect(
            code("http://example.com/a?b=c", fields: ["Accept": "a/b; q=1", "X-Empty": "", "X-Tab": "a\tb"]) == nil)
    }

    @Test func `A scheme may be written in capitals`() {
        #expect(code("HTTPS://example.com/") == nil)
    }

    @Test(arguments: ["http:///path", "https://:80/", "/relative", "http://"])
    func `A URL without a host is a bad URL`(url: String) {
        #expect(code(url) == .badURL)
    }

    @Test func `A data URL needs no host`() {
        #expect(code("data:text/plain,hello") == nil)
    }

    @Test(arguments: ["ftp://example.com/", "file:///etc/passwd", "mailto:a@example.com"])
    func `A scheme that the transport does not speak is refused`(url: String) {
        #expect(code(url) == .unsupportedScheme)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b"])
    func `A value with CR, LF or NUL is refused`(value: String) {
        #expect(code("http://example.com", fields: ["X-A": value]) == .invalidField)
    }

    @Test(arguments: ["X A", "X:", "", "Ä", "X\r\nY"])
    func `A name that is no token is refused`(name: String) {
        #expect(code("http://example.com", fields: [name: "a"]) == .invalidField)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nX: y", "G T", ""])
    func `A method that is no token is refused`(method: String) {
        #expect(code("http://example.com", method: method) == .invalidField)
    }

    @Test func `Nothing was sent when the check fails`() throws {
        let task = TransportTask.data(URLRequest(url: URL(string: "ftp://example.com")!))
        let failure = #expect(throws: TransferFailure.self) { try RequestPreflight.check(task, schemes: ["http"]) }
        #expect(failure?.phase == .connect)
        #expect(failure?.requestMayHaveBeenProcessed == false)
    }
}
