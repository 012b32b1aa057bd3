import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct HandoverTests {
    private let handover = Handover<Int>()

    /// Sends from a Task of its own.
    private func sending(_ element: Int, from attempt: Int) -> Task<Void, any Error> {
        Task { try await handover.send(element, from: attempt) }
    }

    @Test func `Elements arrive in order`() async throws {
        let attempt = handover.begin()
        let sender = Task { for element in 1...5 { try await handover.send(element, from: attempt) } }
        var elements: [Int] = []
        for _ in 1...5 { elements.append(try #require(try await handover.next())) }
        try await sender.value
        #expect(elements == [1, 2, 3, 4, 5] && handover.hasHandedOver)
    }

    @Test func `Only the first reader is let in`() {
        #expect(handover.claim() && !handover.claim())
    }

    @Test func `A cancelled sender takes its element back`() async throws {
        let first = handover.begin()
        let sender = sending(1, from: first)
        sender.cancel()
        await #expect(throws: CancellationError.self) { try await sender.value }
        let second = sending(2, from: handover.begin())
        #expect(try await handover.next() == 2)
        try await second.value
    }

    @Test func `An attempt that was left behind cannot send`() async throws {
        let first = handover.begin()
        let sender = sending(1, from: first)
        let second = handover.begin()
        await #expect(throws: CancellationError.self) { try await sender.value }
        await #expect(throws: CancellationError.self) { try await handover.send(1, from: first) }
        let other = sending(2, from: second)
        #expect(try await handover.next() == 2)
        try await other.value
    }

    @Test func `The end reaches a reader that waits, and one that comes later`() async throws {
        let reader = Task { try await handover.next() }
        handover.end(.success(()))
        #expect(try await reader.value == nil)
        #expect(try await handover.next() == nil)
    }

    @Test func `An error reaches the reader once`() async throws {
        handover.end(.failure(Problem()))
        await #expect(throws: Problem.self) { try await handover.next() }
        #expect(try await handover.next() == nil)
    }

    @Test func `Only the first end counts`() async throws {
        handover.end(.failure(Problem()))
        handover.end(.success(()))
        await #expect(throws: Problem.self) { try await handover.next() }
    }

    @Test func `After the end nothing is sent`() async {
        let attempt = handover.begin()
        let sender = sending(1, from: attempt)
        handover.end(.success(()))
        await #expect(throws: CancellationError.self) { try await sender.value }
        #expect(!handover.hasHandedOver)
    }

    @Test func `A character that is cut between pieces is whole`() async throws {
        let euro = Array("€".utf8)
        let handover = Handover<Data>()
        let operation = StreamOperation(try #require(anyRequest.url))
        var lines = StreamBytes(handover: handover, operation: operation).lines.makeAsyncIterator()
        let attempt = handover.begin()
        async let sent: Void = {
            for byte in euro { try await handover.send(Data([byte]), from: attempt) }
            handover.end(.success(()))
        }()
        #expect(try await lines.next() == "€")
        try await sent
    }
}
