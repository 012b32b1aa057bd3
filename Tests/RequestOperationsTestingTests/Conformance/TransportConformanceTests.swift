import Foundation
import RequestOperationsTesting
import Testing

/// That the suite finds what is wrong, shown with transports that each do one thing wrong.
@Suite(.timeLimit(.minutes(10))) struct TransportConformanceTests {
    @Test(arguments: [
        (BrokenTransport.Fault.reportsHeadsTwice, "A head is reported exactly once"),
        (.reportsHeadsLate, "A head comes before any byte of the body is delivered"),
        (.reportsHeadsOnAnotherTask, "A head is reported on the Task that called perform"),
        (.deliversRejectedBodies, "Nothing of a rejected body reaches the consumer"),
        (.deliversRejectedBodies, "A rejected response leaves the file as it was"),
        (.losesHeadsOfFailures, "The failure has the very error that onHead threw, the head and the first 4 KiB"),
        (.wrapsErrorsOfHandlers, "The failure has the very error that onHead threw, the head and the first 4 KiB"),
        (.wrapsErrorsOfHandlers, "An error of the consumer ends the transfer and comes out of it"),
        (.losesTheLastByte, "A body of declared length arrives byte for byte"),
        (.touchesFilesEarly, "A file is touched only when the head has been accepted"),
        (.ignoresSizeLimits, "A declared length beyond the limit ends the transfer, its head is kept"),
        (.ignoresCancellation, "Cancelling before the head closes the connection"),
        (.leavesOutTheLastProgress, "Progress is told at the end of an empty body, too"),
        (.followsRedirects, "A redirect is a response like any other, and is not followed"),
    ])
    func `A broken transport misses the expectation that names its fault`(
        _ fault: BrokenTransport.Fault, _ name: String
    ) async throws {
        let expectation = try #require(TransportConformance.expectations.first { $0.name == name })
        let intact = await TransportConformance.check(expectation, timeLimit: .seconds(150)) {
            ScriptedTransport.answering(for: $0)
        }
        let broken = await TransportConformance.check(expectation, isLack: true, timeLimit: .seconds(5)) { server in
            BrokenTransport(base: ScriptedTransport.answering(for: server), fault: fault)
        }
        #expect(intact.miss == nil)
        #expect(broken.miss != nil)
    }

    @Test func `A miss that is not declared is a fault that names its expectation`() async {
        let report = await TransportConformance.run(ScriptedTransport([.status(200)]), expectations: [.missed])
        #expect(report.faults == ["missed: “It is missed” (magic): It was seen."])
    }

    @Test func `A miss that is declared is no fault`() async {
        let report = await TransportConformance.run(
            ScriptedTransport([.status(200)]), lacking: [.magic: "There is none."], expectations: [.missed, .met])
        #expect(report.faults == [])
    }

    @Test func `A declared lack that nothing misses is a fault`() async {
        let report = await TransportConformance.run(
            ScriptedTransport([.status(200)]), lacking: [.magic: "There is none."], expectations: [.met])
        #expect(report.faults == ["declared as lacking, and yet there: magic (There is none.)"])
    }

    @Test func `An expectation that never ends is missed at its time limit`() async {
        let endless = TransportExpectation("It never ends", .magic) { _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        let outcome = await TransportConformance.check(
            endless, of: ScriptedTransport([.status(200)]), timeLimit: .milliseconds(50))
        #expect(outcome.miss == "It had not ended after 0.05 seconds.")
    }

    @Test func `An error of the transport is a miss that tells it`() async {
        let outcome = await TransportConformance.check(.performing, of: ScriptedTransport([.error(.connectionLost)]))
        #expect(outcome.miss == "The transfer failed in phase head: connectionLost in transfer")
    }

    @Test func `The folder of a trial is empty at first and gone afterwards`() async throws {
        let folders = Locked<[URL]>([])
        let expectation = TransportExpectation("It has a folder", .magic) { trial in
            let names = try FileManager.default.contentsOfDirectory(atPath: trial.folder.path)
            guard names.isEmpty else { throw ConformanceFailure("It has \(names).") }
            folders.withLock { $0.append(trial.folder) }
        }
        let outcome = await TransportConformance.check(expectation, of: ScriptedTransport([.status(200)]))
        #expect(outcome.miss == nil)
        let folder = try #require(folders.withLock { $0.first })
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `The names of all expectations differ`() {
        let names = TransportConformance.expectations.map(\.name)
        #expect(Set(names).count == names.count)
    }
}

extension TransportCapability {
    fileprivate static let magic = Self("magic", in: "Wonders")
}

extension TransportExpectation {
    fileprivate static let met = TransportExpectation("It is met", .magic) { _ in }
    fileprivate static let missed = TransportExpectation("It is missed", .magic) { _ in
        throw ConformanceFailure("It was seen.")
    }
    fileprivate static let performing = TransportExpectation("It performs", .magic) { trial in
        _ = try await trial.transport.perform(.data(URLRequest(url: trial.server.url))) { _ in }
    }
}
