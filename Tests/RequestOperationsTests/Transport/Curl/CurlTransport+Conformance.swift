import RequestOperations
import RequestOperationsTesting

extension TransportUnderTest {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// The transport over libcurl, where there is one.
        static let curl = [
            TransportUnderTest(
                name: "CurlTransport",
                lacking: [:],
                ofLibrary: lacksOfLibrary, make: { _ in CurlTransport.shared })
        ]
    #else
        static let curl: [TransportUnderTest] = []
    #endif
}
