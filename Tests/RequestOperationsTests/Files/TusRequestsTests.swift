import Foundation
import Testing

@testable import RequestOperations

/// The requests of an upload by tus.
@Suite(.timeLimit(.minutes(10))) struct TusRequestsTests {
    private let upload = URL(string: "https://a.example/files/1")!

    private func requests(_ redirects: RedirectPolicy = RedirectPolicy()) -> TusRequests {
        var request = URLRequest(url: URL(string: "https://a.example/files/")!)
        request.httpMethod = "PUT"
        request.httpBody = Data("x".utf8)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        request.setValue("a", forHTTPHeaderField: "X-Trace")
        var configuration = RequestConfiguration()
        configuration.redirects = redirects
        return TusRequests(from: request, configuration)
    }

    @Test func `The creation says what is to come`() throws {
        let request = requests().creation(size: 7, metadata: "a YQ==", hasBytes: false)
        #expect(request.httpMethod == "POST" && request.url?.path == "/files" && request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Upload-Length") == "7")
        #expect(request.value(forHTTPHeaderField: "Upload-Metadata") == "a YQ==")
        #expect(request.value(forHTTPHeaderField: "Tus-Resumable") == "1.0.0")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
        let withBytes = requests().creation(size: 7, metadata: nil, hasBytes: true)
        #expect(withBytes.value(forHTTPHeaderField: "Content-Type") == "application/offset+octet-stream")
    }

    @Test func `A part has its offset and its digest`() throws {
        let request = try requests().part(of: upload, from: 5, digest: Data([1, 2]))
        #expect(request.httpMethod == "PATCH" && request.url == upload)
        #expect(request.value(forHTTPHeaderField: "Upload-Offset") == "5")
        #expect(request.value(forHTTPHeaderField: "Upload-Checksum") == "sha256 AQI=")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/offset+octet-stream")
    }

    @Test func `All requests have the caller's fields`() throws {
        let all = [
            requests().discovery, try requests().question(about: upload), try requests().termination(of: upload),
        ]
        #expect(all.map(\.httpMethod) == ["OPTIONS", "HEAD", "DELETE"])
        for request in all {
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer secret")
            #expect(request.value(forHTTPHeaderField: "X-Trace") == "a")
        }
    }

    @Test func `Credentials do not go to another origin`() throws {
        let other = URL(string: "https://b.example/files/1")!
        let request = try requests().part(of: other, from: 0, digest: nil)
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(request.value(forHTTPHeaderField: "X-Trace") == "a")
    }

    @Test func `The user of the caller's URL goes with all requests, and one that the server chose with none`() throws {
        let request = URLRequest(url: URL(string: "https://ada:pw@a.example/files/?q=1#part")!)
        let requests = TusRequests(from: request, RequestConfiguration())
        let own = try requests.question(about: URL(string: "https://eve:x@a.example/files/1?k=2")!)
        #expect(own.url?.absoluteString == "https://ada:pw@a.example/files/1?k=2#part")
        let other = try requests.question(about: URL(string: "https://eve:x@b.example/1")!)
        #expect(other.url?.user == nil && other.url?.password == nil)
    }

    @Test func `An upload does not go from https to http`() throws {
        let insecure = URL(string: "http://a.example/files/1")!
        #expect {
            try requests().question(about: insecure)
        } throws: { RequestError.Code.insecureRedirect ~= $0 }
        #expect(throws: Never.self) { try requests(RedirectPolicy(allowsInsecure: true)).question(about: insecure) }
    }

    @Test func `Metadata are pairs of a key and Base64`() throws {
        #expect(try TusRequests.metadata(["name": "Å.txt", "a": "", "b": "c"]) == "a,b Yw==,name w4UudHh0")
        #expect(try TusRequests.metadata([:]) == nil)
        for key in ["", "a b", "a,b", "ä", "a\r\n"] {
            #expect { try TusRequests.metadata([key: "x"]) } throws: { RequestError.Code.invalidField ~= $0 }
        }
    }
}
