import Foundation
import Testing

@testable import RequestOperations

struct URLErrorClassificationTests {
    private func failure(_ code: URLError.Code, _ text: String? = nil, url: String? = nil) -> (RequestError.Code?, Bool)
    {
        var info: [String: Any] = [:]
        info[NSLocalizedDescriptionKey] = text
        info[NSURLErrorFailingURLErrorKey] = url.flatMap(URL.init)
        let (error, phase) = URLErrorClassification.failure(URLError(code, userInfo: info))
        return ((error as? RequestError)?.code, phase == .connect)
    }

    @Test(arguments: [
        "SSL certificate problem: self-signed certificate", "SSL certificate problem: certificate has expired",
        "SSL: no alternative certificate subject name matches target host name 'localhost'",
        "SSL certificate problem: unable to get local issuer certificate",
    ])
    func `A certificate that is not trusted surely sent nothing`(text: String) {
        #expect(failure(.unknown, text) == (.untrustedCertificate, true))
    }

    @Test(arguments: [
        "transfer closed with 10 bytes remaining to read", "transfer closed with outstanding read data remaining",
        "Illegal or missing hexadecimal sequence in chunked-encoding", "end of response with 10 bytes missing",
        "chunk hex-length char not a hex digit: 0x7a", "invalid chunk size: '12345678901234567'",
    ])
    func `A body that breaks off or is not framed as declared is truncated`(text: String) {
        #expect(failure(.unknown, text) == (.truncatedBody, false))
    }

    @Test(arguments: [
        "Error while processing content unencoding: incorrect header check",
        "Unrecognized or bad HTTP Content or Transfer-Encoding",
        "Reject response due to more than 5 content encodings",
    ])
    func `A body that is not coded as declared, or in a way that nobody knows, is undecodable`(text: String) {
        #expect(failure(.unknown, text) == (.undecodableContent, false))
    }

    @Test(arguments: [
        "Failed to connect to 10.0.0.1 port 80 after 3 ms: No route to host",
        "Failed to connect to 10.0.0.1 port 80 after 3 ms: Couldn't connect to server",
        "Immediate connect fail for 1.2.3.4: Network is unreachable",
        "Failed to connect to chunked.rewind.nghttp2.example port 443 after 3 ms: Couldn't connect to server",
        "Failed to connect to SOCKS5.HTTP2.example port 443 after 3 ms: Couldn't connect to server",
    ])
    func `A host that cannot be reached surely got nothing`(text: String) {
        #expect(failure(.unknown, text) == (.cannotConnect, true))
    }

    @Test(arguments: [
        "Recv failure: Connection reset by peer", "Empty reply from server", "Send failure: Broken pipe",
        "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
        "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", "Failed receiving HTTP2 data",
        "nghttp2 shuts down connection with error 2: Internal error", "necessary data rewind was not possible",
        "Cannot rewind mime/post data", "Send failed since rewinding of the data stream failed",
    ])
    func `A connection that ends early may have brought the request`(text: String) {
        #expect(failure(.badServerResponse, text) == (.connectionLost, false))
    }

    @Test(arguments: [
        "OpenSSL SSL_connect: Connection reset by peer in connection to localhost:443",
        "error:0A00010B:SSL routines::wrong version number",
    ])
    func `A handshake that fails surely sent nothing`(text: String) {
        #expect(failure(.unknown, text) == (.secureConnectionFailed, true))
    }

    @Test func `An alert for the client's certificate is told apart`() {
        let text = "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0"
        #expect(failure(.unknown, text) == (.clientCertificateRejected, false))
    }

    @Test(arguments: [
        "CONNECT tunnel failed, response 403", "Proxy CONNECT aborted", "Proxy CONNECT connection closed",
        "Can't complete SOCKS5 connection to example.com. (1)", "connection to proxy closed",
    ])
    func `A proxy that refuses surely passed nothing on`(text: String) {
        #expect(failure(.unknown, text) == (.proxyFailed, true))
    }

    @Test(arguments: [
        "Received HTTP/0.9 when not allowed", "Failed writing header", "Unsupported HTTP/1 subversion in response",
        "Unsupported response code in HTTP response", "NUL byte in header", "Invalid Content-Length: value",
        "Unsolicited Transfer-Encoding (gzip) found",
        "Invalid Transfer-Encoding: in 204 response", "Carriage return found in header",
        "NUL byte in server response line", "Multiple Location headers", "Lying server, not serving HTTP/2",
        "A value or data field grew larger than allowed",
        "Reject response due to 'chunked' not being the last Transfer-Encoding",
        "A Transfer-Encoding (gzip) was listed after chunked",
    ])
    func `What is not readable as HTTP is malformed`(text: String) {
        #expect(failure(.unsupportedURL, text) == (.malformedResponse, false))
    }

    @Test func `The text is believed before a code that contradicts it`() {
        // The code is that of the first address that was tried, the text that of what happened on the second.
        #expect(failure(.cannotConnectToHost, "Empty reply from server") == (.connectionLost, false))
    }

    @Test func `A connection that timed out surely sent nothing, a response that did may have been processed`() {
        #expect(failure(.timedOut, "Failed to connect to a port 80: Connection timed out") == (.timedOut, true))
        #expect(failure(.timedOut) == (.timedOut, false))
    }

    @Test func `An IPv6 literal is refused with a sentence`() {
        let result = failure(.badURL, url: "http://[::1]:80/")
        #expect(result == (.unsupported, true))
        #expect(failure(.badURL, url: "http://example.com/") == (.badURL, true))
    }

    @Test func `A file that cannot be read surely sent nothing`() {
        #expect(failure(.fileDoesNotExist) == (.unencodableBody, true))
    }

    @Test func `A head that breaks off is a lost connection`() {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "transfer closed with 2 bytes remaining"])
        let (failure, _) = URLErrorClassification.failure(error, hasHead: false)
        #expect((failure as? RequestError)?.code == .connectionLost)
    }

    @Test func `A cancel by somebody else stays what it is`() {
        let (error, _) = URLErrorClassification.failure(URLError(.cancelled))
        #expect((error as? URLError)?.code == .cancelled)
    }
}
