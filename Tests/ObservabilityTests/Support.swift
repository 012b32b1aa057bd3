#if Observability
    import RequestOperationsTesting

    /// A client of a server that answers 503 twice and then the text `ok`, which retries at once.
    func makeClient(of server: LoopbackServer, _ edit: (inout RequestConfiguration) -> Void = { _ in }) -> RequestClient
    {
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
        edit(&configuration)
        return RequestClient(baseURL: server.url, configuration: configuration)
    }
#endif
