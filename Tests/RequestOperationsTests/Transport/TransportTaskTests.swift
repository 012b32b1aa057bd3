import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransportTaskTests {
    private static let request: URLRequest = {
        var request = URLRequest(url: URL(string: "https://a.example/")!)  // A literal that is a URL.
        request.httpMethod = "POST"
        request.httpBody = Data([1])
        return request
    }()

    private static func isInMemory(_ task: TransportTask) -> Bool {
        if case .memory = task.destination { true } else { false }
    }

    @Test func `A data task sends the requests own body and reads into memory`() {
        let task = TransportTask.data(Self.request)
        #expect(!task.body.isNone && Self.isInMemory(task) && task.limits == TransferLimits() && task.onProgress == nil)
    }

    @Test func `An upload sends its body in place of the requests`() {
        let task = TransportTask.upload(Self.request, from: .file(URL(fileURLWithPath: "/x")))
        guard case .file = task.body else {
            Issue.record("not the file")
            return
        }
    }

    @Test func `A download goes to its file`() {
        let file = URL(fileURLWithPath: "/x")
        guard case .file(file) = TransportTask.download(Self.request, to: file).destination else {
            Issue.record("not to the file")
            return
        }
    }

    @Test func `A stream goes to its consumer`() {
        guard case .stream = TransportTask.stream(Self.request, to: { _ in }).destination else {
            Issue.record("not to the consumer")
            return
        }
    }

    @Test(arguments: [
        (TransferFailure.Phase.connect, false), (.request, true), (.head, true), (.body, true),
    ])
    func `A failure past the connection may have been processed`(phase: TransferFailure.Phase, mayHaveBeen: Bool) {
        let failure = TransferFailure(RequestError(.timedOut, stage: .transfer), phase: phase)
        #expect(failure.requestMayHaveBeenProcessed == mayHaveBeen)
    }

    @Test func `The length of a body in memory is its size`() {
        let head = ResponseHead(status: 200, url: URL(string: "https://a.example/")!)  // A literal that is a URL.
        #expect(TransportResponse(head: head, body: Data([1, 2])).bodySize == 2)
        #expect(TransportResponse(head: head, bodySize: 9).bodySize == 9)
    }
}
