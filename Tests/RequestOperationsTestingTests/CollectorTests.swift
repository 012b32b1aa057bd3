import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct CollectorTests {
    @Test func `It keeps the order`() {
        let numbers = Collector<Int>()
        for number in 1...3 { numbers.append(number) }
        #expect(numbers.elements == [1, 2, 3] && numbers.count == 3)
    }

    @Test func `Appending tells how many there are`() {
        let numbers = Collector<Int>()
        #expect((7...9).map { numbers.count(appending: $0) } == [1, 2, 3])
    }

    @Test func `A wait ends with the element that it needed`() async {
        let numbers = Collector<Int>()
        async let enough: Void = numbers.count(50)
        await withTaskGroup { group in
            for number in 1...50 { group.addTask { numbers.append(number) } }
        }
        await enough
    }

    @Test func `A wait for what is there ends at once`() async {
        let numbers = Collector<Int>()
        await numbers.count(0)
        numbers.append(1)
        await numbers.count(1)
    }
}
