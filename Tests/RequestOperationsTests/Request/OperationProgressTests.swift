import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct OperationProgressTests {
    private func operation(_ answers: [ScriptedTransport.Answer]) -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy.backoff = .constant(.zero)
        return URLRequestOperation(anyRequest, configuration: configuration)
    }

    private func report(_ received: Int64, of total: Int64?) -> TransferProgress {
        TransferProgress(bytesReceived: received, bytesToReceive: total)
    }

    @Test func `It is the same object each time`() {
        let operation = operation([.body(Data())])
        #expect(operation.progress === operation.progress)
    }

    @Test func `It is indeterminate before a length is known`() {
        #expect(operation([.body(Data())]).progress.isIndeterminate)
    }

    @Test func `It is complete after a success`() async throws {
        let operation = operation([.body(Data("four".utf8))])
        let progress = operation.progress
        _ = try await run(operation)
        #expect(progress.fractionCompleted == 1 && progress.completedUnitCount == progress.totalUnitCount)
    }

    @Test func `It is not complete after a failure`() async throws {
        let operation = operation([.status(404)])
        let progress = operation.progress
        await #expect(throws: RequestError.self) { try await run(operation) }
        #expect(!progress.isFinished)
    }

    @Test func `It counts both bodies`() {
        let state = OperationProgress(ProgressState())
        let progress = state.tree {}
        state.change {
            $0.report(TransferProgress(bytesSent: 3, bytesToSend: 3, bytesReceived: 2, bytesToReceive: 7), at: .zero)
        }
        #expect(progress.completedUnitCount == 5 && progress.totalUnitCount == 10)
    }

    @Test func `It never goes back`() {
        let state = OperationProgress(ProgressState())
        let progress = state.tree {}
        state.change { $0.report(report(8, of: 10), at: .zero) }
        state.change { $0.report(report(2, of: 10), at: .zero) }
        #expect(progress.completedUnitCount == 8)
        state.change { $0.report(report(9, of: 10), at: .zero) }
        #expect(progress.completedUnitCount == 9)
    }

    @Test func `It is never more than whole`() {
        let state = OperationProgress(ProgressState())
        let progress = state.tree {}
        // A large upload that a 303 redirects to a small download.
        state.change { $0.report(TransferProgress(bytesSent: 1_000_000, bytesToSend: 1_000_000), at: .zero) }
        state.change { $0.report(report(10, of: 1000), at: .zero) }
        #expect(progress.completedUnitCount <= progress.totalUnitCount)
        state.change { $0.report(report(1000, of: 1000), at: .zero) }
        #expect(progress.fractionCompleted <= 1)
    }

    @Test func `A later attempt with another length has the total of its own`() {
        let state = OperationProgress(ProgressState())
        let progress = state.tree {}
        state.change { $0.report(report(8, of: 10), at: .zero) }
        state.change { $0.report(report(2, of: 100), at: .zero) }
        #expect(progress.completedUnitCount == 8 && progress.totalUnitCount == 100)
        state.change { $0.report(report(3, of: 5), at: .zero) }
        #expect(progress.completedUnitCount == 8 && progress.totalUnitCount == 8)
    }

    @Test func `It is complete if it is first asked for after the success`() async throws {
        let operation = operation([.body(Data("four".utf8))])
        _ = try await run(operation)
        await end(of: operation)
        #expect(operation.progress.fractionCompleted == 1)
    }

    @Test func `A cancel of it cancels the operation`() async {
        let operation = operation([.body(Data())])
        operation.progress.cancel()
        // Foundation calls the handler on a thread of its own.
        await eventually { operation.isCancelled }
    }

    @Test func `The listener of the configuration hears too`() async throws {
        let heard = Collector<TransferProgress>()
        var configuration = RequestConfiguration.scripted([.body(Data("four".utf8))])
        configuration.onProgress = { heard.append($0) }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let progress = operation.progress
        _ = try await run(operation)
        #expect(heard.elements.last?.bytesReceived == progress.completedUnitCount)
    }

    @Test func `It does not keep the operation`() {
        weak var freed: URLRequestOperation<Data>?
        let progress: Progress
        do {
            let operation = operation([.body(Data())])
            freed = operation
            progress = operation.progress
        }
        #expect(freed == nil && !progress.isCancelled)
    }
}
