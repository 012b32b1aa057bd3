import RequestOperationsTesting
import Testing

@testable import RequestOperations

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
