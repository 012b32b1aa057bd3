import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct AnswerTests {
    private struct Mine: Error {}

    @Test func anAnswerGivenBeforeItIsAwaitedIsKept() async throws {
        let answer = Answer<Int>()
        #expect(answer.resume(with: .success(1)))
        #expect(try await answer.value == 1)
    }

    @Test func onlyTheFirstAnswerCounts() async throws {
        let answer = Answer<Int>()
        answer.resume(with: .success(1))
        #expect(!answer.resume(with: .success(2)))
        #expect(try await answer.value == 1)
        #expect(!answer.resume(with: .success(3)))
    }

    @Test func anErrorIsAnAnswer() async {
        let answer = Answer<Int>()
        answer.resume(with: .failure(Mine()))
        await #expect(throws: Mine.self) { try await answer.value }
    }

    @Test func exactlyOneOfManyAnswersAtOnceIsTheFirst() async throws {
        for _ in 0..<200 {
            let answer = Answer<Int>()
            async let awaited = answer.value
            let first = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<8 { group.addTask { answer.resume(with: .success(number)) ? number : nil } }
                return await group.reduce(into: [Int]()) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(first.count == 1)
            #expect(try await awaited == first.first)
        }
    }

    @Test func theValueIsNotKeptOnceItIsDelivered() async throws {
        let answer = Answer<Held>()
        weak var held: Held?
        do {
            let value = Held()
            held = value
            answer.resume(with: .success(value))
            _ = try await answer.value
        }
        #expect(held == nil)
        #expect(!answer.resume(with: .failure(Mine())))
    }

    private final class Held: Sendable {}

    @Test func theOutcomeOfAnAsynchronousFunctionIsAResult() async {
        func one() async throws -> Int { 1 }
        func none() async throws -> Int { throw Mine() }
        let success = await Result(catching: one)
        #expect((try? success.get()) == 1)
        let failure = await Result(catching: none)
        #expect(throws: Mine.self) { try failure.get() }
    }
}
