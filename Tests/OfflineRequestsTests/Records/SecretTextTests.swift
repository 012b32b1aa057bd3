import Foundation
import RequestOperations
import Testing

@testable import OfflineRequests

/// That no value of this package shows a secret that it carries, whichever way it becomes text.
@Suite(.timeLimit(.minutes(10))) struct SecretTextTests {
    private static let canary = "s3cr3tCanary"

    private static let request = {
        // A literal that is a URL.
        var request = URLRequest(url: URL(string: "https://user:\(canary)@a.example/path?sig=\(canary)#\(canary)")!)
        request.httpMethod = "POST"
        request.setValue("Bearer \(canary)", forHTTPHeaderField: "Authorization")
        request.httpBody = Data(canary.utf8)
        return request
    }()

    private static let options = {
        var options = OfflineOptions()
        options.storesCredentials = true
        options.userInfo = Data(canary.utf8)
        return options
    }()

    private struct Foreign: Error, CustomStringConvertible {
        let description = canary
    }

    /// What each of the ways to make text of a value gives.
    private static func texts(of value: Any) -> [String] {
        var (printed, debugged, dumped) = ("", "", "")
        print(value, to: &printed)
        debugPrint(value, to: &debugged)
        dump(value, to: &dumped)
        return [printed, debugged, dumped, "\(value)"]
    }

    /// Whether a text has the secret, as it is or byte by byte, as `dump` shows `Data`.
    private static func hasCanary(_ text: String) -> Bool {
        let numbers = text.split { !$0.isNumber }.compactMap { UInt8($0) }
        return text.contains(canary) || numbers.contains(Array(canary.utf8))
            || text.contains(Data(canary.utf8).base64EncodedString())
    }

    private func check(_ values: [Any]) {
        for value in values {
            for text in Self.texts(of: value) {
                #expect(!Self.hasCanary(text), "\(type(of: value)) shows the secret: \(text)")
            }
        }
    }

    @Test func `A record shows no secret of its request or its user`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        let id = try await queue.add(Self.request, options: Self.options)
        let record = try #require(try await queue.record(id))
        // The record has the secrets.
        guard case .request(let stored) = record.content else {
            Issue.record("\(record)")
            return
        }
        #expect(stored.value(forHTTPHeaderField: "Authorization") == "Bearer \(Self.canary)")
        #expect(stored.url == Self.request.url && record.userInfo == Data(Self.canary.utf8))
        check([record, record.content, [record], queue, record.state])
        #expect("\(record)" == "record \(id): POST https://a.example/path, pending, 0 failed attempts")
        await queue.close()
    }

    @Test func `Options and errors show no secret`() {
        let failures = [
            Foreign() as any Error, URLError(.badURL, userInfo: [NSURLErrorFailingURLErrorKey: Self.canary]),
        ]
        check([Self.options] + failures.map { OfflineQueueError(.unencodable, underlying: $0) })
        check(failures.map { OutcomeClassifier.Failure($0, status: 400, message: "m") })
        let invalid = EncodingError.invalidValue(
            Self.canary, EncodingError.Context(codingPath: [], debugDescription: Self.canary))
        check([
            OfflineQueueError(.unencodable, underlying: invalid),
            OfflineEvent.storeFailed(.init(.busy, underlying: invalid)),
        ])
    }

    @Test func `A configuration shows no secret`() {
        var configuration = OfflineConfiguration()
        configuration.request.adapters = [.field("X-API-Key", Self.canary)]
        check([configuration])
    }

    @Test func `The search finds a secret where it is shown`() {
        #expect(Self.texts(of: Self.request.url as Any).allSatisfy(Self.hasCanary))
        #expect(Self.texts(of: Data(Self.canary.utf8)).contains(where: Self.hasCanary))
    }

    @Test func `An error of this package says what its cause is`() {
        let error = OfflineQueueError(.storeFailed, underlying: FileError(path: "/x", code: ENOSPC))
        #expect("\(error)".hasPrefix("storeFailed: /x: "))
    }
}
