import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ThroughputMeterTests {
    /// The speed after some reports, in bytes at seconds.
    private func speed(_ reports: (bytes: Int64, seconds: Double)...) -> Double? {
        var meter = ThroughputMeter()
        for report in reports { meter.note(report.bytes, at: .seconds(report.seconds)) }
        return meter.perSecond
    }

    @Test func `One report is no speed`() {
        #expect(speed() == nil && speed((1000, 1)) == nil)
    }

    @Test func `Two reports at the same time are no speed`() {
        #expect(speed((0, 1), (1000, 1)) == nil)
    }

    @Test func `The bytes of the first report do not count`() {
        #expect(speed((1_000_000, 0), (1_000_100, 1)) == 100)
    }

    @Test func `What was more than five seconds ago does not count`() {
        #expect(speed((0, 0), (1000, 1), (1000, 2), (1100, 3), (1200, 4), (1300, 5), (1400, 6), (1500, 7)) == 100)
    }

    @Test func `A body that is sent again is measured again`() {
        #expect(speed((0, 0), (1000, 1), (0, 2)) == nil)
        #expect(speed((0, 0), (1000, 1), (0, 2), (50, 3)) == 50)
    }

    @Test func `Many reports are measured like few`() {
        var meter = ThroughputMeter()
        for step in 0...1000 { meter.note(Int64(step), at: .milliseconds(step * 10)) }
        #expect((99.9...100.1).contains(meter.perSecond ?? 0))
    }
}
