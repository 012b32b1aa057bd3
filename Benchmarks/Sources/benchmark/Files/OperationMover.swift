import RequestOperations

/// A `URLRequestOperation` that makes a download or an upload of its request.
struct OperationMover: FileMover {
    private let configuration: RequestConfiguration
    private let queue = OperationQueue()

    init(_ client: ClientKind) {
        configuration = client.configuration(trusting: nil)
    }

    func download(_ page: String, to file: URL) throws -> Double? {
        try run(page, method: "GET") { .download($0, to: file) }
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        try run(page, method: "PUT") { .upload($0, from: .file(file)) }
    }

    private func run(
        _ page: String, method: String, _ makeTask: @escaping @Sendable (URLRequest) -> TransportTask
    ) throws -> Double? {
        // The catalogue makes no other than good URLs.
        var request = URLRequest(url: URL(string: page)!)
        request.httpMethod = method
        let operation = FileOperation(request, configuration: configuration, makeTask)
        queue.addOperations([operation], waitUntilFinished: true)
        try operation.result?.get()
        return nil
    }
}

/// An operation whose task a closure makes.
// Unchecked as its superclass is: its own state never changes.
private final class FileOperation: URLRequestOperation<Void>, @unchecked Sendable {
    private let task: @Sendable (URLRequest) -> TransportTask

    init(
        _ request: URLRequest, configuration: RequestConfiguration,
        _ task: @escaping @Sendable (URLRequest) -> TransportTask
    ) {
        self.task = task
        super.init(request, decoder: .void, configuration: configuration)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        task(request)
    }
}
