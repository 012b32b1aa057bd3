import RequestOperations
import RequestOperationsTesting
import Testing

/// Reports a quarter of a body of 400 bytes, and the rest when the door opens.
private struct QuarterTransport: Transport {
    let door = Door()

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let head = ResponseHead(status: 200, url: task.request.url!)
        try onHead(head)
        task.onProgress?(TransferProgress(bytesReceived: 100, bytesToReceive: 400))
        await door.pass()
        return TransportResponse(head: head, body: Data(count: 400))
    }
}

@Suite(.timeLimit(.minutes(15))) struct ProgressTreeTests {
    private let transport = QuarterTransport()
    private let queue = OperationQueue()

    private var request: URLRequestOperation<Data> {
        URLRequestOperation(anyRequest, configuration: .over(transport))
    }

    /// Waits until the updates have this fraction.
    private func reach(_ fraction: Double, in updates: AsyncStream<ProgressUpdate>) async {
        for await update in updates where update.fraction == fraction { return }
        Issue.record("The updates ended before.")
    }

    @Test func `The bytes of a member count in its batch`() async throws {
        let batch = RequestBatch([request, request])
        let (progress, updates) = (batch.progress, batch.progressUpdates)
        queue.addOperation(batch)
        await reach(0.25, in: updates)
        await eventually { progress.fractionCompleted == 0.25 && progress.completedUnitCount == 0 }
        transport.door.open()
        _ = try await batch.value
        #expect(progress.fractionCompleted == 1 && progress.completedUnitCount == 2)
    }

    @Test func `The bytes of a member of a member count`() async throws {
        let inner = RequestBatch([request])
        let group = [ClosureOperation {}, RequestGroup([inner], order: .serial)].serialGroup()
        let (progress, updates) = (group.progress, group.progressUpdates)
        queue.addOperation(group)
        await reach(0.625, in: updates)
        await eventually { progress.fractionCompleted == 0.625 && progress.completedUnitCount == 1 }
        transport.door.open()
        try await group.value
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `The bytes of a step count in its chain`() async throws {
        let request = request
        let chain = StepChain<Data>({ _ in .skip }, { _ in .run(request) })
        let (progress, updates) = (chain.progress, chain.progressUpdates)
        queue.addOperation(chain)
        await reach(0.625, in: updates)
        transport.door.open()
        _ = try await chain.value
        #expect(progress.fractionCompleted == 1 && progress.completedUnitCount == 2)
    }

    @Test func `A chain counts its links and those of its first link`() async throws {
        let (request, last) = (request, ClosureOperation {})
        let chain = ClosureOperation {}.then { request }.then { _ in last }
        let (progress, updates) = (chain.progress, chain.progressUpdates)
        #expect(progress.totalUnitCount == 3)
        queue.addOperation(chain)
        for await update in updates where update.completed == 1 { break }
        transport.door.open()
        try await chain.value
        await eventually { progress.completedUnitCount == 3 && progress.fractionCompleted == 1 }
        var counts: [Int64] = []
        for await update in chain.progressUpdates { counts.append(update.completed) }
        #expect(counts == [3])
    }

    @Test func `The bytes of the first link of a chain count`() async throws {
        let chain = request.then { _ in ClosureOperation {} }
        let updates = chain.progressUpdates
        queue.addOperation(chain)
        await reach(0.125, in: updates)
        transport.door.open()
        try await chain.value
    }

    @Test func `A progress that is asked for after the end is complete`() async throws {
        transport.door.open()
        let chain = request.then { _ in ClosureOperation {} }
        let batch = RequestBatch(each: [request].lazy.map { $0 })
        queue.addOperation(chain)
        queue.addOperation(batch)
        try await chain.value
        _ = try await batch.value
        await eventually { chain.isFinished && batch.isFinished }
        #expect(chain.progress.fractionCompleted == 1 && batch.progress.fractionCompleted == 1)
        for await update in batch.progressUpdates { #expect(update.fraction == 1) }
    }

    @Test func `A sequence of unknown length has a total when it has ended`() async throws {
        transport.door.open()
        let batch = RequestBatch(each: [request, request].lazy.filter { _ in true })
        let progress = batch.progress
        #expect(progress.isIndeterminate)
        queue.addOperation(batch)
        _ = try await batch.value
        await eventually { batch.isFinished }
        #expect(progress.totalUnitCount == 2 && progress.fractionCompleted == 1)
    }

    @Test func `Many threads count at once and nothing is lost`() async throws {
        transport.door.open()
        let door = Door()
        let last = ClosureOperation { await door.pass() }
        let groups: [Operation] = (0..<49).map { _ in (0..<20).map { _ in request }.concurrentGroup() }
        let batch = (groups + [last]).concurrentGroup()
        let progress = batch.progress
        queue.addOperation(batch)
        // Before the end, when the counts are copied.
        await eventually { progress.completedUnitCount == 49 && progress.fractionCompleted == 0.98 }
        door.open()
        try await batch.value
        #expect(progress.completedUnitCount == 50 && progress.fractionCompleted == 1)
    }

    @Test func `A cancelled member counts as a whole one`() async throws {
        let members = [request, request]
        let batch = RequestBatch(members, policy: .collectAll)
        let (progress, updates) = (batch.progress, batch.progressUpdates)
        queue.addOperation(batch)
        await reach(0.25, in: updates)
        members[0].cancel()
        transport.door.open()
        _ = await batch.results
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `Cancelling the progress of a chain cancels it`() async {
        let chain = request.then { _ in ClosureOperation {} }
        queue.addOperation(chain)
        chain.progress.cancel()
        await eventually { chain.isFinished && chain.isCancelled }
    }
}
