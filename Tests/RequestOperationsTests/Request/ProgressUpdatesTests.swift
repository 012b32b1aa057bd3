import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ProgressUpdatesTests {
    private func operation(_ answers: [ScriptedTransport.Answer]) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy.maximumRetries = 0
        return URLRequestOperation(anyRequest, configuration: configuration)
    }

    private func report(_ received: Int64, of total: Int64?) -> TransferProgress {
        TransferProgress(bytesReceived: received, bytesToReceive: total)
    }

    private func complete(_ state: inout ProgressState) {
        state.succeed()
        state.end()
    }

    private func all(_ updates: AsyncStream<ProgressUpdate>) async -> [ProgressUpdate] {
        var all: [ProgressUpdate] = []
        for await update in updates { all.append(update) }
        return all
    }

    @Test func `A length that a server announces and the bytes of the request have a sum`() {
        var state = ProgressState()
        let transfer = TransferProgress(
            bytesSent: 10, bytesToSend: 10, bytesReceived: .max - 5, bytesToReceive: .max)
        state.report(transfer, at: .zero)
        #expect(state.update.total == .max && state.update.completed == .max)
    }

    // MARK: The stream

    @Test func `The updates end with the operation, and the last one is complete`() async throws {
        let operation = operation([.body(Data("four".utf8))])
        let updates = operation.progressUpdates
        _ = try await run(operation)
        #expect(await all(updates).last == ProgressUpdate(completed: 4, total: 4))
    }

    @Test func `The updates of a failed operation end with its last state`() async {
        let operation = operation([.status(404)])
        let updates = operation.progressUpdates
        _ = await failure(of: operation)
        #expect(await all(updates) == [ProgressUpdate()])
    }

    @Test func `The updates of an operation that has ended are its last state`() async throws {
        let succeeded = operation([.body(Data("four".utf8))])
        _ = try await run(succeeded)
        await end(of: succeeded)
        #expect(await all(succeeded.progressUpdates).last?.fraction == 1)
        let failed = operation([.status(404)])
        _ = await failure(of: failed)
        await end(of: failed)
        #expect(await all(failed.progressUpdates) == [ProgressUpdate()])
    }

    @Test func `The updates of a cancelled operation end`() async {
        let operation = operation([.stall])
        let updates = operation.progressUpdates
        OperationQueue().addOperation(operation)
        operation.cancel()
        #expect(await all(updates) == [ProgressUpdate()])
    }

    @Test func `A slow reader gets only the newest`() async {
        let progress = OperationProgress(ProgressState())
        let updates = progress.updates
        for received in 1...5 { progress.change { $0.report(report(Int64(received), of: 10), at: .zero) } }
        progress.change { $0.end() }
        #expect(await all(updates) == [ProgressUpdate(completed: 5, total: 10)])
    }

    @Test func `Every reader gets the updates`() async {
        let progress = OperationProgress(ProgressState())
        let (first, second) = (progress.updates, progress.updates)
        progress.change(complete)
        #expect(await all(first) == all(second))
    }

    @Test func `What comes after the end is not told`() async {
        let progress = OperationProgress(ProgressState())
        progress.change(complete)
        progress.change { $0.report(report(5, of: 10), at: .zero) }
        #expect(await all(progress.updates) == [ProgressUpdate(completed: 1, total: 1)])
    }

    // MARK: Speed

    @Test func `The speed and the time left are those of the running attempt`() async throws {
        let progress = OperationProgress(ProgressState())
        progress.change { $0.beginAttempt() }
        progress.change { $0.report(report(0, of: 1000), at: .zero) }
        progress.change { $0.report(report(100, of: 1000), at: .seconds(1)) }
        progress.change { $0.beginAttempt() }
        progress.change { $0.report(report(500, of: 1000), at: .seconds(100)) }
        progress.change { $0.report(report(550, of: 1000), at: .seconds(101)) }
        var updates = progress.updates.makeAsyncIterator()
        let update = try #require(await updates.next())
        #expect(update == ProgressUpdate(completed: 550, total: 1000, throughput: 50))
        #expect(update.fraction == 0.55 && update.timeLeft == .seconds(9))
    }

    @Test func `The progress of Foundation has the speed and the time left`() {
        let progress = OperationProgress(ProgressState())
        let tree = progress.tree {}
        progress.change { $0.report(report(0, of: 1000), at: .zero) }
        #expect(tree.userInfo[.throughputKey] == nil)
        progress.change { $0.report(report(100, of: 1000), at: .seconds(1)) }
        #expect(tree.userInfo[.throughputKey] as? Int == 100)
        #expect(tree.userInfo[.estimatedTimeRemainingKey] as? Double == 9)
    }

    @Test func `The time left is known and finite`() {
        #expect(ProgressUpdate(completed: 1, total: nil, throughput: 1).timeLeft == nil)
        #expect(ProgressUpdate(completed: 1, total: 2).timeLeft == nil)
        #expect(ProgressUpdate(completed: 2, total: 2, throughput: 0).timeLeft == .zero)
        #expect(ProgressUpdate(completed: 1, total: 2, throughput: 0).timeLeft == .seconds(365 * 24 * 3600))
    }

    @Test func `The part that is done is never more than one`() {
        #expect(ProgressUpdate(completed: 0, total: 0).fraction == 1)
        #expect(ProgressUpdate(completed: 5, total: 4).fraction == 1)
        #expect(ProgressUpdate(completed: 1).fraction == nil)
    }

    @Test func `A form that is answered into a file or a stream is no upload`() {
        var request = anyRequest
        request.setValue("multipart/form-data; boundary=a", forHTTPHeaderField: "Content-Type")
        let toFile = TransportTask.download(request, to: URL(fileURLWithPath: "/a"))
        let toStream = TransportTask(request, destination: .stream { _ in })
        #expect(TransportTask.data(request).isUpload && !toFile.isUpload && !toStream.isUpload)
    }

    @Test func `The last update comes once`() {
        var state = ProgressState()
        let sent = TransferProgress(bytesSent: 10, bytesToSend: 10, bytesReceived: 4, bytesToReceive: 4)
        for _ in 1...2 { state.report(sent.ofBodySent, at: .zero) }
        state.succeed()
        #expect(state.number == 1 && state.update.total == 10)
    }
}
