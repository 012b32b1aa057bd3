#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct ProxyMessageTests {
        @Test(arguments: [
            ("Failed to connect to 127.0.0.1 port 3128 after 0 ms: Couldn't connect to server", true),
            ("Failed to connect to example.com port 80 via 127.0.0.1 after 0 ms: Could not connect to server", true),
            ("Failed to connect to example.com:80 over proxy 127.0.0.1:3128 after 0 ms", true),
            ("Failed to connect to example.com port 80 after 0 ms: Couldn't connect to server", false),
            ("Failed to connect to example.com:80 after 0 ms", false),
        ])
        func `A proxy is told from a server in each version's words`(message: String, isProxy: Bool) {
            #expect(CurlTransfer.isAboutProxy(message, ofRequestTo: "example.com", 80) == isProxy)
        }
    }
#endif
