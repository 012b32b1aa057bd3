import RequestOperationsTesting

@testable import RequestOperations

/// What the libcurl that runs cannot do, and another can.
extension TransportUnderTest {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// The lacks of any transport over it.
        static let lacksOfLibrary: [TransportCapability: String] = {
            let codings: [(String, TransportCapability)] = [
                ("gzip", .gzip), ("deflate", .deflate), ("br", .brotli), ("zstd", .zstd),
            ]
            let missing = codings.filter { !CurlLibrary.decodes($0.0) }
            var lacks = Dictionary(uniqueKeysWithValues: missing.map { ($0.1, "This libcurl is built without it.") })
            if CurlLibrary.version >= CurlLibrary.Version(8, 5) {
                lacks[.unknownCodings] = "From version 8.5 on libcurl refuses the response."
            }
            return lacks
        }()

        /// Those of a transport that gives it whole URLs.
        static let lacksOfWholeURLs: [TransportCapability: String] =
            CurlLibrary.version >= CurlLibrary.Version(8, 8) && CurlLibrary.version < CurlLibrary.Version(8, 21)
            ? [.emptyQueries: "The versions of libcurl from 8.8 to 8.20 leave the mark out."] : [:]
    #else
        static let lacksOfLibrary: [TransportCapability: String] = [:]
        static let lacksOfWholeURLs: [TransportCapability: String] = [:]
    #endif
}
