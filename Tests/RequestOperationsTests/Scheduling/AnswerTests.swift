import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct AnswerTests {
    private struct Mine: Error {}

    @Test func `An answer given before it is awaited is kept`() async throws {
        let answer = Answer<Int>()
        #expect(answer.resume(with: .success(1)))
        #expect(try await answer.value == 1)
    }

    @Test func `Only the first answer counts`() async throws {
        let answer = Answer<Int>()
        answer.resume(with: .success(1))
        #expect(!answer.resume(with: .success(2)))
        #expect(try await answer.value == 1)
        #expect(!answer.resume(with: .success(3)))
    }

    @Test func `An error is an answer`() async {
        let answer = Answer<Int>()
        answer.resume(with: .failure(Mine()))
        await #expect(throws: Mine.self) { try await answer.value }
    }

    @Test func `Exactly one of many answers at once is the first`() async throws {
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

    @Test func `The value is not kept once it is delivered`() async throws {
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

    @Test func `The outcome of an asynchronous function is a result`() async {
        func one() async throws -> Int { 1 }
        func none() async throws -> Int { throw Mine() }
        let success = await Result(catching: one)
        #expect((try? success.get()) == 1)
        let failure = await Result(catching: none)
        #expect(throws: Mine.self) { try failure.get() }
    }
}
