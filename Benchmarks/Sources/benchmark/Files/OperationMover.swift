import RequestOperations

/// A `DownloadOperation` or an `UploadOperation`, as users make them.
struct OperationMover: FileMover {
    private let configuration: RequestConfiguration
    private let queue = OperationQueue()

    init(_ client: ClientKind) {
        configuration = client.configuration(trusting: nil)
    }

    func download(_ page: String, to file: URL) throws -> Double? {
        let operation = DownloadOperation(request(page), to: .file(file), configuration: configuration)
        queue.addOperations([operation], waitUntilFinished: true)
        _ = try operation.result?.get()
        return nil
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        var request = request(page)
        request.httpMethod = "PUT"
        let operation = UploadOperation(.file(file), to: request, decoder: .void, configuration: configuration)
        queue.addOperations([operation], waitUntilFinished: true)
        try operation.result?.get()
        return nil
    }

    private func request(_ page: String) -> URLRequest {
        // The catalogue makes no other than good URLs.
        URLRequest(url: URL(string: page)!)
    }
}
