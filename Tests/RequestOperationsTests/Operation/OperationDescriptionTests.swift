import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct OperationDescriptionTests {
    private let url = URL(string: "http://u:p@example.invalid/a?token=1#b")!  // A literal that is a URL.

    @Test func `A request says its type, method, host, path and state`() async {
        let request = URLRequestOperation(url, configuration: .scripted([.status(404)]))
        let line = "URLRequestOperation<Data>: GET http://example.invalid/a, "
        #expect("\(request)" == line + "not started")
        _ = await failure(of: request)
        #expect("\(request)" == line + "failed")
    }

    @Test func `An operation says whether it runs, succeeded or was cancelled`() async throws {
        let door = Door()
        let runs = Work { await door.pass() }
        OperationQueue().addOperation(runs)
        await eventually { runs.isExecuting }
        #expect("\(runs)" == "Work<()>, executing")
        door.open()
        try await runs.value
        let cancelled = Work { 1 }
        cancelled.cancel()
        #expect(["\(runs)", "\(cancelled)"] == ["Work<()>, succeeded", "Work<Int>, cancelled"])
    }

    @Test func `Other work says its name`() {
        #expect("\(RetryingOperation(named: "sync") { $0 })" == "RetryingOperation<Int>: sync, not started")
    }
}
