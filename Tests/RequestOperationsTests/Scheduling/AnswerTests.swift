import RequestOperationsTesting
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

@Suite(.timeLimit(.minutes(15))) struct BroadcastTests {
    @Test func `A stream begins with the value that there is`() async {
        let broadcast = Broadcast("first")
        broadcast.send("second", number: 1)
        var values = broadcast.stream().makeAsyncIterator()
        #expect(await values.next() == "second")
    }

    @Test func `Every stream hears of a change`() async {
        let broadcast = Broadcast(0)
        var streams = [broadcast.stream().makeAsyncIterator(), broadcast.stream().makeAsyncIterator()]
        for index in streams.indices { #expect(await streams[index].next() == 0) }
        broadcast.send(1, number: 1)
        for index in streams.indices { #expect(await streams[index].next() == 1) }
    }

    @Test func `A value that is older than the last one is dropped`() async {
        let broadcast = Broadcast(0)
        broadcast.send(2, number: 2)
        broadcast.send(1, number: 1)
        var values = broadcast.stream().makeAsyncIterator()
        #expect(await values.next() == 2)
    }

    @Test func `Who is late hears the last value`() async {
        let broadcast = Broadcast(0)
        var values = broadcast.stream().makeAsyncIterator()
        for number in 1...5 { broadcast.send(number, number: number) }
        #expect(await values.next() == 5)
    }

    @Test func `A stream that is left is forgotten`() async {
        let broadcast = Broadcast(0)
        let listening = Task {
            for await _ in broadcast.stream() {}
        }
        await eventually { broadcast.streamCount == 1 }
        listening.cancel()
        await listening.value
        await eventually { broadcast.streamCount == 0 }
    }

    @Test func `Every thread hears the last value of all`() async {
        let broadcast = Broadcast(0)
        var values = broadcast.stream().makeAsyncIterator()
        await withTaskGroup(of: Void.self) { group in
            for number in 1...100 { group.addTask { broadcast.send(number, number: number) } }
        }
        var last = 0
        while last < 100, let next = await values.next() {
            #expect(next > last || next == 0)
            last = next
        }
        #expect(last == 100)
    }

    @Test func `The end comes after the last value, and a later stream has only both`() async {
        let broadcast = Broadcast(0)
        let early = broadcast.stream()
        broadcast.send(1, number: 1)
        broadcast.end()
        broadcast.send(2, number: 2)
        for stream in [early, broadcast.stream()] {
            var values: [Int] = []
            for await value in stream { values.append(value) }
            #expect(values == [1])
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct BoxTests {
    @Test func `A box that somebody else has is copied when it is changed`() {
        var box = Box([1])
        let other = box
        box.edit { $0.append(2) }
        #expect(box.value == [1, 2] && other.value == [1])
    }

    @Test func `A box that nobody else has is changed where it is`() {
        var box = Box(Array(0..<1000))
        func place() -> Int { box.value.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
        let before = place()
        box.edit { $0[0] = 1 }
        #expect(place() == before)
    }
}
