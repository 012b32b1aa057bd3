#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting

    extension TransportUnderTest {
        /// libcurl: it lacks nothing that the suite asks for.
        static let curl = TransportUnderTest(name: "CurlTransport", lacking: [:], make: { _ in CurlTransport.shared })
    }
#endif
