#if Observability
    import RequestOperations
    import RequestOperationsTesting

    /// A client of a server, which retries at once.
    func makeClient(of server: LoopbackServer) -> RequestClient {
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
        return RequestClient(baseURL: server.url, configuration: configuration)
    }

    /// A configuration over a transport, which retries at once.
    func configuration(over transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
        return configuration
    }

    /// Runs an operation in a queue to its end.
    func end(_ operation: some Operation) async {
        let queue = RequestQueue()
        queue.addOperation(operation)
        await queue.finished()
    }

    /// An operation with a stage that ignores a cancel. So the operation ends before that stage.
    final class Deaf: URLRequestOperation<Data>, @unchecked Sendable {
        /// The stage has begun.
        let began = Door()
        /// The stage goes on once it is open.
        let goesOn = Door()
        /// Nothing uses the operation any more.
        let isFreed: Door

        init(_ configuration: RequestConfiguration, freeing isFreed: Door) {
            self.isFreed = isFreed
            super.init(URLRequest(url: anyURL), decoder: .data, configuration: configuration)
        }

        deinit { isFreed.open() }

        override func makeTask(for request: URLRequest) async throws -> TransportTask {
            began.open()
            await goesOn.pass()
            return try await super.makeTask(for: request)
        }
    }

    /// Cancels an operation in its stage, and lets the stage go on after the operation has ended.
    func cancelInStage(_ configuration: RequestConfiguration) async {
        let isFreed = Door()
        await {
            let operation = Deaf(configuration, freeing: isFreed)
            async let ended: Void = end(operation)
            await operation.began.pass()
            operation.cancel()
            await ended
            operation.goesOn.open()
        }()
        await isFreed.pass()
    }

    let anyURL = URL(string: "https://a.invalid/x")!
#endif
