import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct DescriptorsTests {
    @Test(arguments: [
        (1024, 4096, 4096), (4096, 4096, 4096), (1024, 1 << 30, 1 << 20), (1 << 21, 1 << 30, 1 << 21),
        (1024, rlim_t.max, 1 << 20), (rlim_t.max, rlim_t.max, rlim_t.max),
    ])
    func `The limit of open files is raised and never lowered`(current: rlim_t, maximum: rlim_t, raised: rlim_t) {
        #expect(Descriptors.raised(current, maximum: maximum) == raised)
    }

    @Test(arguments: [(0, 1), (40, 2), (64, 22), (1024, 878), (1 << 20, (1 << 20) - 274), (rlim_t.max, Int.max - 274)])
    func `As many attempts are in flight as there may be connections beside what the tool keeps open`(
        limit: rlim_t, attempts: Int
    ) {
        #expect(Descriptors.attempts(under: limit) == attempts)
    }

    @Test func `The concurrency is lowered to what the limit allows, and that is said`() {
        var settings = RunSettings()
        var said: [String] = []
        settings.concurrency = 2000
        settings.lowerConcurrency(to: 1024) { said.append($0) }
        #expect(settings.concurrency == 878)
        #expect(
            said == [
                "urlrequest: --concurrency 2000 is lowered to 878: no more than 1024 files and sockets may be open (ulimit -n)\n"
            ])
        settings.lowerConcurrency(to: 1024) { said.append($0) }
        #expect(said.count == 1)
    }
}

@Suite(.timeLimit(.minutes(10))) struct SignalHistoryTests {
    private let start = ContinuousClock.now
    private var history = SignalHistory()

    private mutating func meanings(of signals: [(Int32, Int)]) -> [SignalHistory.Meaning] {
        signals.map { number, milliseconds in history.meaning(of: number, at: start + .milliseconds(milliseconds)) }
    }

    @Test mutating func `The same signal within half a second is a repetition, however often it comes`() {
        #expect(meanings(of: [(SIGTERM, 0), (SIGTERM, 0), (SIGTERM, 499)]) == [.first, .repetition, .repetition])
    }

    @Test mutating func `The same signal after half a second is a second one`() {
        #expect(meanings(of: [(SIGINT, 0), (SIGINT, 400), (SIGINT, 500)]) == [.first, .repetition, .second])
    }

    @Test mutating func `Another signal is a second one at once`() {
        #expect(meanings(of: [(SIGINT, 0), (SIGTERM, 0)]) == [.first, .second])
    }
}
