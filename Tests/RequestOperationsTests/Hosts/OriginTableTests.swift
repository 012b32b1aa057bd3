import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct OriginTableTests {
    private func origin(_ text: String) -> Origin { Origin(URL(string: text)) }

    @Test(
        arguments: [
            "http://a.example", "http://a.example/", "http://a.example/x/y?z#f", "http://a.example?q",
            "http://a.example#f",
            "http://A.example/", "HTTP://a.example/", "http://a.example:80/", "http://user@a.example/",
            "http://u:p@a.example:80/x",
        ])
    func `All spellings of an origin have one entry`(text: String) {
        var table = OriginTable<Int>()
        table.change(origin("http://a.example/"), at: 0, initially: 0, isIdle: { _ in false }, by: { $0 += 1 })
        for _ in 1...3 { table.change(origin(text), at: 0, initially: 0, isIdle: { _ in false }, by: { $0 += 1 }) }
        #expect(table.count == 1 && table[origin(text)] == 4)
    }

    @Test(
        arguments: [
            "https://a.example/", "http://a.example:8080/", "http://b.example/", "http://a.example.b/",
            "http://a.exampl/",
            "http://b.example/http://a.example/", "http://b.example?http://a.example/", "http://a.example@b.example/",
        ])
    func `Another origin has another entry`(text: String) {
        var table = OriginTable<Int>()
        table.change(origin("http://a.example/"), at: 0, initially: 1, isIdle: { _ in false }, by: { _ in })
        #expect(table[origin("http://a.example/")] == 1)
        #expect(table[origin(text)] == nil)
        table.change(origin(text), at: 0, initially: 2, isIdle: { _ in false }, by: { _ in })
        #expect(table[origin(text)] == 2 && table[origin("http://a.example/")] == 1)
    }

    @Test func `A request without a URL has an entry too`() {
        var table = OriginTable<Int>()
        table.change(Origin(nil), at: 0, initially: 1, isIdle: { _ in false }, by: { $0 += 1 })
        #expect(table[Origin(nil)] == 2)
    }

    @Test func `What is not there is not changed`() {
        var table = OriginTable<Int>()
        #expect(table.change(origin("http://a.example/")) { $0 += 1 } == nil)
        #expect(table.count == 0)
    }

    @Test func `Idle entries make room for others`() {
        var table = OriginTable<Int>()
        for number in 0..<1000 {
            table.change(
                origin("http://h\(number).example/"), at: 0, initially: number, isIdle: { $0 % 100 != 0 }, by: { _ in })
        }
        #expect(table.count <= 64)
        for number in stride(from: 0, to: 1000, by: 100) {
            #expect(table[origin("http://h\(number).example/")] == number)
        }
    }

    @Test func `Entries that are not idle all stay`() {
        var table = OriginTable<Int>()
        for number in 0..<1000 {
            table.change(
                origin("http://h\(number).example/"), at: 0, initially: number, isIdle: { _ in false }, by: { _ in })
        }
        #expect(table.count == 1000)
        for number in 0..<1000 { #expect(table[origin("http://h\(number).example/")] == number) }
    }

    @Test func `What is idle is dropped within an hour also where there is room`() {
        var table = OriginTable<Int>()
        func use(_ number: Int, at hours: Double) {
            table.change(
                origin("http://h\(number).example/"), at: Int64(hours * Double(HostMemory.sweepInterval)),
                initially: number,
                isIdle: { $0.isMultiple(of: 2) }, by: { _ in })
        }
        for number in 0..<10 { use(number, at: 0) }
        use(1, at: 0.9)
        #expect(table.count == 10)
        use(1, at: 1)
        #expect(table.count == 5)
        for number in 0..<10 {
            #expect((table[origin("http://h\(number).example/")] == nil) == number.isMultiple(of: 2))
        }
    }
}
