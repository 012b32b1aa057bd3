import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct HistogramTests {
    @Test func `Without durations every percentile is zero`() {
        #expect(Histogram().percentile(0.99) == .zero)
    }

    @Test(arguments: [0.5, 0.9, 0.99, 1])
    func `A percentile is at most 0.8 % above that of the sorted durations, and never below`(_ fraction: Double) {
        var generator = SystemRandomNumberGenerator()
        let microseconds = (0..<10_000).map { _ in Int64(pow(10, Double.random(in: 0...9, using: &generator))) }
        var histogram = Histogram()
        for value in microseconds { histogram.record(.microseconds(value)) }
        let exact = microseconds.sorted()[Int((fraction * 10_000).rounded(.up)) - 1]
        let found = histogram.percentile(fraction).microseconds
        #expect(found >= exact)
        #expect(Double(found) <= Double(exact) * 1.008 + 1)
    }

    @Test func `Small durations are exact`() {
        var histogram = Histogram()
        for value in 1...100 { histogram.record(.microseconds(value)) }
        #expect(histogram.percentile(0.5) == .microseconds(50))
        #expect(histogram.percentile(0.95) == .microseconds(95))
    }

    @Test func `The maximum is exact`() {
        var histogram = Histogram()
        histogram.record(.nanoseconds(1_234_567_891))
        histogram.record(.zero)
        #expect(histogram.maximum == .nanoseconds(1_234_567_891))
        #expect(histogram.percentile(1) == histogram.maximum)
    }

    @Test func `Durations of years and negative ones are counted`() {
        var histogram = Histogram()
        histogram.record(.seconds(1_000_000_000))
        histogram.record(.seconds(-1))
        #expect(histogram.count == 2)
        #expect(histogram.percentile(0.5) == .zero)
    }
}
