import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct ContentRangeTests {
    @Test(arguments: [
        ("bytes 0-0/1", ContentRange.bytes(0...0, total: 1)), ("bytes 5-9/10", .bytes(5...9, total: 10)),
        ("bytes 5-9/*", .bytes(5...9, total: nil)), ("bytes */10", .unsatisfied(total: 10)),
        ("Bytes  5-9/10", .bytes(5...9, total: 10)),
    ])
    func `A range is read`(_ value: String, _ range: ContentRange) {
        #expect(ContentRange(value) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes -5-9/10", "bytes +5-9/10", "bytes */*",
        "items 5-9/10", "bytes 5-9/10 11", "bytes 5-9/x", "bytes 5-99999999999999999999/*",
    ])
    func `What is no range of bytes is not used`(_ value: String) {
        #expect(ContentRange(value) == nil)
    }
}
