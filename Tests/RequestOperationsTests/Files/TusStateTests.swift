import Foundation
import Testing

@testable import RequestOperations

/// The steps of an upload by tus.
@Suite(.timeLimit(.minutes(10))) struct TusStateTests {
    private static let upload = URL(string: "http://a.example/files/1")!
    private let capable = ["Tus-Extension": "creation,creation-with-upload,checksum", "Tus-Checksum-Algorithm": "sha1"]

    private func head(_ status: Int, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(
            status: status, url: URL(string: "http://a.example/files/")!,
            fields: fields.map { (name: $0.key, value: $0.value) }, version: .http1_1)
    }

    private func discovered(
        _ size: Int64 = 10, _ options: TusOptions = TusOptions(), server: [String: String] = [:]
    ) throws -> TusState {
        var state = TusState(size: size, options: options)
        _ = state.beginAttempt()
        _ = try state.receive(head(204, server), to: .discover)
        return state
    }

    /// A state with an upload of which the server has some bytes.
    private func created(
        _ size: Int64 = 10, _ options: TusOptions = TusOptions(), offset: Int64 = 0, server: [String: String] = [:],
        fields: [String: String] = [:]
    ) throws -> TusState {
        var state = try discovered(size, options, server: server)
        let fields = fields.merging(["Location": "/files/1"]) { $1 }
        _ = try state.receive(head(201, fields), to: .create(0..<0))
        _ = state.beginAttempt()
        _ = try state.receive(head(200, ["Upload-Offset": "\(offset)"]), to: .ask(Self.upload))
        return state
    }

    private func send(_ part: Range<Int64>, isVerified: Bool = false) -> TusState.Step {
        .send(part, to: Self.upload, isVerified: isVerified)
    }

    @Test func `An upload asks what the server can do, creates, and sends all bytes`() throws {
        var state = TusState(size: 10, options: TusOptions())
        #expect(state.step == .discover)
        #expect(try state.receive(head(204), to: .discover) == .goesOn)
        #expect(state.step == .create(0..<0))
        #expect(try state.receive(head(201, ["Location": "1"]), to: .create(0..<0)) == .goesOn)
        #expect(state.step == send(0..<10))
        #expect(try state.receive(head(204, ["Upload-Offset": "10"]), to: send(0..<10)) == .complete)
    }

    @Test func `The first bytes go with the creation where the server can do that`() throws {
        var state = try discovered(server: capable)
        #expect(state.step == .create(0..<10))
        let fields = ["Location": "1", "Upload-Offset": "10"]
        #expect(try state.receive(head(201, fields), to: .create(0..<10)) == .complete)
    }

    @Test func `Many bytes do not go with the creation, as they would be lost if it broke off`() throws {
        let large = try discovered(TusState.usualPiece + 1, server: capable)
        let piece = try discovered(1 << 40, TusOptions(chunkSize: 5), server: capable)
        #expect(large.step == .create(0..<0) && piece.step == .create(0..<5))
    }

    @Test(arguments: [307, 417, 500]) func `Only a creation that was refused is made without bytes afterwards`(
        _ status: Int
    ) throws {
        var state = try discovered(server: capable)
        let creation = state.nextStep()
        #expect(try state.receive(head(status), to: creation) == .refused)
        _ = state.beginAttempt()
        #expect(state.step == .create(0..<(status == 500 ? 0 : 10)))
    }

    @Test func `A creation that broke off is made without bytes afterwards`() throws {
        var state = try discovered(server: capable)
        _ = state.nextStep()
        _ = state.beginAttempt()
        #expect(state.step == .create(0..<0))
    }

    @Test func `A stored upload is not given up because of the limit of the server`() throws {
        for (status, isGivenUp) in [(400, true), (413, false)] {
            var state = TusState(size: 10, options: TusOptions(), resuming: TusLocation(url: Self.upload, expires: nil))
            _ = state.beginAttempt()
            _ = try state.receive(head(204), to: .discover)
            _ = try state.receive(head(200, ["Upload-Offset": "4"]), to: .ask(Self.upload))
            _ = try? state.receive(head(status), to: send(4..<10))
            let wasGivenUp = state.dropRemembered()
            #expect(wasGivenUp == isGivenUp)
        }
    }

    @Test func `A creation that does not tell what it has is followed by a question`() throws {
        var state = try discovered(server: capable)
        _ = try state.receive(head(201, ["Location": "1"]), to: .create(0..<10))
        #expect(state.step == .ask(Self.upload))
    }

    @Test func `A chunk size bounds each request`() throws {
        var state = try created(10, TusOptions(chunkSize: 4))
        #expect(state.step == send(0..<4))
        #expect(try state.receive(head(204, ["Upload-Offset": "4"]), to: send(0..<4)) == .goesOn)
        #expect(state.step == send(4..<8))
        _ = try state.receive(head(204, ["Upload-Offset": "8"]), to: send(4..<8))
        #expect(state.step == send(8..<10))
    }

    @Test func `Bytes are verified only where the server checks sha256`() throws {
        let checks = ["Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": "md5, SHA256"]
        #expect(try created(server: checks).step == send(0..<10, isVerified: true))
        #expect(try created(1 << 40, server: checks).step == send(0..<TusState.usualPiece, isVerified: true))
        #expect(try created(server: capable).step == send(0..<10))
        #expect(try created(10, TusOptions(isVerified: false), server: checks).step == send(0..<10))
    }

    @Test func `A server that answers no OPTIONS request gets an upload all the same`() throws {
        for status in [401, 404, 405, 501] {
            var state = TusState(size: 1, options: TusOptions())
            #expect(try state.receive(head(status), to: .discover) == .goesOn)
            #expect(state.step == .create(0..<0))
        }
    }

    @Test func `A server that is out of order is asked again in the next attempt`() throws {
        var state = TusState(size: 1, options: TusOptions())
        #expect(try state.receive(head(503), to: .discover) == .refused && state.step == .discover)
    }

    @Test func `A server of another version, or without creation, is not supported`() {
        let others = [["Tus-Version": "0.2.2"], ["Tus-Extension": "termination"]]
        for fields in others {
            #expect(throws: RequestError.self) { try discovered(server: fields) }
        }
        var state = TusState(size: 1, options: TusOptions())
        #expect { try state.receive(head(412), to: .discover) } throws: { RequestError.Code.unsupported ~= $0 }
    }

    @Test func `An upload larger than the server takes fails and says so`() throws {
        let error = #expect(throws: RequestError.self) { try discovered(10, server: ["Tus-Max-Size": "9"]) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.reason == "the server takes at most 9 bytes (Tus-Max-Size), and the upload has 10")
        #expect(throws: Never.self) { try discovered(9, server: ["Tus-Max-Size": "9"]) }
        var refused = try discovered()
        #expect {
            try refused.receive(head(413), to: .create(0..<0))
        } throws: { RequestError.Code.bodyTooLarge ~= $0 }
    }

    @Test func `A later attempt asks for the offset`() throws {
        var state = try created(offset: 3)
        #expect(state.step == send(3..<10) && state.offset == 3)
        let first = state.beginAttempt()
        #expect(state.step == .ask(Self.upload) && state.offset == nil)
        _ = state.beginAttempt()
        #expect(!state.isRunning(first))
    }

    @Test(arguments: [409, 460]) func `After a conflict or a wrong checksum the offset is asked for`(
        _ status: Int
    ) throws {
        var state = try created()
        #expect(try state.receive(head(status), to: send(0..<10)) == .goesOn)
        #expect(state.step == .ask(Self.upload))
    }

    @Test func `A server that goes on to disagree ends the attempt`() throws {
        var state = try created()
        for _ in 1...3 {
            #expect(try state.receive(head(409), to: send(0..<10)) == .goesOn)
            _ = try state.receive(head(200, ["Upload-Offset": "0"]), to: .ask(Self.upload))
        }
        #expect(try state.receive(head(409), to: send(0..<10)) == .refused)
    }

    @Test func `A server that takes no byte of a request ends the attempt`() throws {
        var state = try created()
        for _ in 1...3 {
            #expect(try state.receive(head(204, ["Upload-Offset": "0"]), to: send(0..<10)) == .goesOn)
            _ = try state.receive(head(200, ["Upload-Offset": "0"]), to: .ask(Self.upload))
        }
        #expect(try state.receive(head(204, ["Upload-Offset": "0"]), to: send(0..<10)) == .refused)
    }

    @Test func `A server may take a part of a request`() throws {
        var state = try created()
        #expect(try state.receive(head(204, ["Upload-Offset": "7"]), to: send(0..<10)) == .goesOn)
        #expect(state.step == send(7..<10))
    }

    @Test func `A server that loses bytes again and again ends the attempt`() throws {
        var state = try created()
        var rounds = 0
        while rounds < 100 {
            rounds += 1
            guard try state.receive(head(204, ["Upload-Offset": "5"]), to: send(0..<10)) == .goesOn,
                try state.receive(head(409), to: send(5..<10)) == .goesOn,
                try state.receive(head(200, ["Upload-Offset": "0"]), to: .ask(Self.upload)) == .goesOn
            else { break }
        }
        #expect(rounds < 10)
    }

    @Test(arguments: [404, 410]) func `An upload that is gone is created anew`(_ status: Int) throws {
        var asked = try created()
        #expect(try asked.receive(head(status), to: .ask(Self.upload)) == .goesOn)
        #expect(asked.step == .create(0..<0) && asked.location == nil)
        var sent = try created()
        #expect(try sent.receive(head(status), to: send(0..<10)) == .goesOn && sent.location == nil)
    }

    @Test func `A refusal of an upload that has not expired is that of the request`() throws {
        let fields = ["Upload-Expires": "Sun, 06 Nov 2044 08:49:37 GMT"]
        var state = try created(fields: fields)
        #expect(state.location?.expires != nil)
        #expect(try state.receive(head(403), to: .ask(Self.upload)) == .refused && state.location != nil)
        var withoutExpiry = try created()
        #expect(try withoutExpiry.receive(head(403), to: send(0..<10)) == .refused && withoutExpiry.location != nil)
        let later = Date(timeIntervalSince1970: 4_000_000_000)
        #expect(try state.receive(head(403), to: .ask(Self.upload), now: later) == .goesOn)
    }

    @Test func `A server that loses upload after upload ends the attempt`() throws {
        var state = try discovered()
        for _ in 1...2 {
            _ = try state.receive(head(201, ["Location": "1"]), to: .create(0..<0))
            _ = try state.receive(head(404), to: send(0..<10))
        }
        #expect(try state.receive(head(404), to: send(0..<10)) == .refused)
    }

    @Test func `Something else under the same URL is left alone`() throws {
        var longer = try created()
        #expect(
            try longer.receive(head(200, ["Upload-Offset": "5", "Upload-Length": "11"]), to: .ask(Self.upload))
                == .goesOn)
        #expect(longer.location == nil)
        var further = try created()
        _ = try further.receive(head(200, ["Upload-Offset": "11"]), to: .ask(Self.upload))
        #expect(further.location == nil)
    }

    @Test(arguments: [301, 302, 307, 308]) func `A redirect within the origin moves the upload`(
        _ status: Int
    ) throws {
        var state = try created()
        #expect(try state.receive(head(status, ["Location": "/other/1"]), to: send(0..<10)) == .goesOn)
        #expect(state.step == .ask(URL(string: "http://a.example/other/1")!))
        #expect(try state.receive(head(status, ["Location": "/third/1"]), to: state.step) == .goesOn)
        #expect(state.step == .ask(URL(string: "http://a.example/third/1")!))
    }

    @Test(arguments: ["http://b.example/files/1", "https://a.example/files/1", ""])
    func `A redirect of an upload to another origin is not followed`(_ place: String) throws {
        var state = try created()
        #expect {
            try state.receive(head(307, place.isEmpty ? [:] : ["Location": place]), to: send(0..<10))
        } throws: {
            RequestError.Code.unacceptableStatus ~= $0
        }
    }

    @Test func `An upload that is redirected again and again ends the attempt`() throws {
        var state = try created()
        #expect(throws: RequestError.self) {
            while true { _ = try state.receive(head(307, ["Location": "/files/1"]), to: state.step) }
        }
    }

    @Test func `A response against the protocol is malformed`() throws {
        var state = try discovered()
        #expect {
            try state.receive(head(201), to: .create(0..<0))
        } throws: { RequestError.Code.malformedResponse ~= $0 }
        for (status, fields) in [(200, [:]), (200, ["Upload-Offset": "x"])] {
            var asked = try created()
            #expect {
                try asked.receive(head(status, fields), to: .ask(Self.upload))
            } throws: { RequestError.Code.malformedResponse ~= $0 }
        }
        var sent = try created(offset: 3)
        for offset in ["2", "11"] {
            #expect {
                try sent.receive(head(204, ["Upload-Offset": offset]), to: send(3..<10))
            } throws: { RequestError.Code.malformedResponse ~= $0 }
        }
    }

    @Test func `The place of an upload has no user and no password`() throws {
        var state = try discovered()
        _ = try state.receive(head(201, ["Location": "http://ada:pw@b.example/1"]), to: .create(0..<0))
        #expect(state.location?.url.absoluteString == "http://b.example/1")
    }

    @Test func `An empty upload is complete once it is created`() throws {
        var state = try discovered(0)
        #expect(state.step == .create(0..<0))
        #expect(try state.receive(head(201, ["Location": "1"]), to: .create(0..<0)) == .complete)
    }

    @Test func `Other statuses end the attempt`() throws {
        var state = try created()
        for status in [304, 400, 401, 423, 500, 503] {
            #expect(try state.receive(head(status), to: send(0..<10)) == .refused)
            #expect(try state.receive(head(status), to: .ask(Self.upload)) == .refused)
        }
    }
}
