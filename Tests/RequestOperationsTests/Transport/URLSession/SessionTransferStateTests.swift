import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct SessionTransferStateTests {
    // The request has a URL.
    private static let head = ResponseHead(status: 200, url: anyRequest.url!)

    private func state(
        _ task: TransportTask = .data(anyRequest), bytesToSend: Int64? = nil,
        limits edit: (inout TransferLimits) -> Void = { _ in }
    ) -> SessionTransferState {
        var task = task
        edit(&task.limits)
        return SessionTransferState(task, limits: task.effectiveLimits, bytesToSend: bytesToSend)
    }

    /// A state whose Task has the head.
    private func judging(
        _ task: TransportTask = .data(anyRequest), after data: Data = Data(),
        limits edit: (inout TransferLimits) -> Void = { _ in }
    ) -> SessionTransferState {
        var state = state(task, limits: edit)
        _ = state.receive(Self.head, length: nil)
        if !data.isEmpty { _ = state.receive(data) }
        state.makeHeadDue()
        _ = state.nextEvent()
        return state
    }

    // MARK: The head

    @Test func `A head is held back for its small body`() {
        var state = state()
        #expect(state.receive(Self.head, length: 100) == true)
        #expect(state.nextEvent()?.name == nil)
        state.finish(.whole)
        #expect(state.nextEvent()?.name == "head")
    }

    @Test func `A head is not held back for a body that is declared as large`() {
        var state = state()
        #expect(state.receive(Self.head, length: 1 << 20) == false)
        #expect(state.nextEvent()?.name == "head")
    }

    @Test func `A head is not held back when its body has become large`() {
        var state = state()
        _ = state.receive(Self.head, length: nil)
        _ = state.receive(Data(count: Int(Inbox.eagerSize)))
        #expect(state.nextEvent()?.name == "head")
    }

    @Test func `A head that is overdue is not held back`() {
        var state = state()
        _ = state.receive(Self.head, length: 100)
        state.makeHeadDue()
        #expect(state.nextEvent()?.name == "head")
    }

    @Test func `The head of the last response counts and the bytes before it do not`() {
        var state = state()
        _ = state.receive(Self.head, length: nil)
        _ = state.receive(Data("interim".utf8))
        _ = state.receive(ResponseHead(status: 201, url: Self.head.url), length: nil)
        #expect(state.head?.status == 201 && state.progress.bytesReceived == 0)
    }

    @Test func `A head that the task has stays the head`() {
        var state = judging()
        #expect(state.receive(ResponseHead(status: 201, url: Self.head.url), length: nil) == false)
        #expect(state.head?.status == 200)
    }

    // MARK: The body

    @Test func `What is beyond the limit ends the transfer`() {
        var state = judging { $0.maximumBodySize = 2 }
        _ = state.receive(Data("ab".utf8))
        #expect(state.end == nil)
        _ = state.receive(Data("c".utf8))
        #expect(state.failure == .bodyTooLarge)
    }

    @Test func `A consumers bytes come in their order`() {
        var state = judging(.stream(anyRequest) { _ in }, after: Data("a".utf8))
        state.accept(.consumer)
        _ = state.receive(Data("b".utf8))
        #expect(state.nextEvent()?.pieces == [Data("a".utf8), Data("b".utf8)])
        state.finish(.whole)
        #expect(state.nextEvent()?.name == "ended")
    }

    @Test func `What a consumer does not take is spilled`() {
        var state = judging(.stream(anyRequest) { _ in }, after: Data(count: Inbox.roomSize))
        state.accept(.consumer)
        guard case .spill = state.receive(Data("x".utf8)) else {
            Issue.record("kept in memory")
            return
        }
    }

    @Test func `A body for memory is never spilled`() {
        var state = judging(after: Data(count: Inbox.roomSize))
        state.accept(.memory)
        guard case .none = state.receive(Data("x".utf8)) else {
            Issue.record("not kept in memory")
            return
        }
        #expect(state.inbox.takeBody().count == Inbox.roomSize + 1)
    }

    @Test func `A file is handed over only when the task has written what was there`() throws {
        let path = TemporaryPath()
        let sink = try FileSink(path.url)
        var state = judging(.download(anyRequest, to: path.url), after: Data("a".utf8))
        #expect(state.handOver(to: sink)?.chunks == [Data("a".utf8)])
        #expect(state.handOver(to: sink)?.chunks == nil)
        guard case .write(let data, _) = state.receive(Data("b".utf8)) else {
            Issue.record("not for the file")
            return
        }
        #expect(data == Data("b".utf8))
    }

    @Test func `What is spilled while the body is handed over goes to the file`() throws {
        let path = TemporaryPath()
        let sink = try FileSink(path.url)
        var state = judging(.download(anyRequest, to: path.url), after: Data(count: Inbox.roomSize))
        guard case .spill(let data, _) = state.receive(Data("x".utf8)) else {
            Issue.record("kept in memory")
            return
        }
        #expect(state.handOver(to: sink)?.chunks.count == 1)
        #expect(state.handOver(to: sink)?.chunks == nil)
        #expect(state.spilled(data.count, into: try TemporaryFile()) === sink)
    }

    @Test func `Of a rejected body the beginning is kept`() {
        var state = judging(after: Data(repeating: 1, count: 3000))
        #expect(state.reject() == true)
        _ = state.receive(Data(repeating: 2, count: 3000))
        #expect(state.bodyPrefix == Data(repeating: 1, count: 3000) + Data(repeating: 2, count: 1096))
    }

    @Test func `A rejected body is cut at its limit`() {
        var state = judging { $0.errorBodyLimit = 10 }
        _ = state.reject()
        _ = state.receive(Data(count: 11))
        guard case .cut = state.end else {
            Issue.record("not cut")
            return
        }
    }

    @Test func `A rejected body is cut at once without a limit`() {
        var state = judging { $0.errorBodyLimit = 0 }
        #expect(state.reject() == false)
    }

    // MARK: The end

    @Test func `The first ending counts`() {
        var state = judging()
        state.finish(.whole)
        state.finish(.cancelled)
        guard case .whole = state.end else {
            Issue.record("another ending")
            return
        }
    }

    @Test func `What comes after the end is dropped`() {
        var state = judging()
        state.accept(.memory)
        state.finish(.cancelled)
        _ = state.receive(Data("x".utf8))
        #expect(state.inbox.takeBody().isEmpty)
    }

    @Test func `A cancel overtakes a head and what a consumer has not taken`() {
        var held = state()
        _ = held.receive(Self.head, length: 100)
        held.finish(.cancelled)
        #expect(held.nextEvent()?.name == "ended")
        var consumed = judging(.stream(anyRequest) { _ in }, after: Data("a".utf8))
        consumed.accept(.consumer)
        consumed.finish(.cancelled)
        #expect(consumed.nextEvent()?.name == "ended")
    }

    @Test func `An idle transfer ends at its limit`() {
        var state = state()
        #expect(state.checkIdleTime(.seconds(3600)) != nil)
        #expect(state.checkIdleTime(.zero) == nil)
        #expect(state.failure == .timedOut)
    }

    @Test func `After the close no alarm is wanted`() {
        var state = state()
        let alarm = DeadlineHeap.shared.schedule(at: .now + .seconds(3600)) {}
        #expect(state.add(alarm) == true)
        #expect(state.close() == [alarm])
        #expect(state.add(alarm) == false)
        DeadlineHeap.shared.cancel(alarm)
    }

    @Test func `How far it came follows from what was sent and received`() {
        var state = state(bytesToSend: 10)
        state.sent(4)
        #expect(state.reached == .request)
        state.sent(10)
        #expect(state.reached == .head)
        _ = state.receive(Self.head, length: nil)
        #expect(state.reached == .body)
    }
}

extension SessionTransferState {
    /// The code that it ended with.
    fileprivate var failure: RequestError.Code? {
        if case .failed(let error as RequestError, _) = end { error.code } else { nil }
    }
}

extension SessionTransferState.Event {
    fileprivate var name: String {
        switch self {
        case .head: "head"
        case .pieces: "pieces"
        case .progress: "progress"
        case .ended: "ended"
        }
    }

    fileprivate var pieces: [Data]? {
        if case .pieces(let pieces) = self { pieces.chunks } else { nil }
    }
}
