import RequestOperations
import RequestOperationsTesting

extension TransportUnderTest {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// The transport over libcurl, where there is one.
        static let curl = [
            TransportUnderTest(
                name: "CurlTransport",
                lacking: [
                    .truncatedCodings: "libcurl does not say whether a compressed body had come to its end."
                ],
                ofLibrary: lacksOfLibrary, make: { _ in CurlTransport.shared })
        ]
    #else
        static let curl: [TransportUnderTest] = []
    #endif
}
