import RequestOperations
import RequestOperationsTesting

/// What the libcurl that runs cannot do, and another can.
extension TransportUnderTest {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// The lacks of any transport over it.
        static let lacksOfLibrary: [TransportCapability: String] = {
            var lacks: [TransportCapability: String] = [:]
            if !Libcurl.decodes("br") { lacks[.brotli] = "This libcurl is built without it." }
            if !Libcurl.decodes("zstd") { lacks[.zstd] = "This libcurl is built without it." }
            if Libcurl.isVersion(from: (7, 83), before: (7, 84)) {
                lacks[.foldedFields] = "libcurl 7.83 refuses the response."
            }
            if Libcurl.isVersion(from: (8, 5)) {
                lacks[.unknownCodings] = "From version 8.5 on libcurl refuses the response."
                lacks[.truncatedCodings] = "libcurl does not tell whether a compressed body had come to its end."
            }
            return lacks
        }()

        /// Those of a transport that always gives it whole URLs, and leaves it to bound heads.
        static let lacksOfLibraryUnderURLSession: [TransportCapability: String] = {
            var lacks = lacksOfLibrary
            if Libcurl.isVersion(from: (8, 8), before: (8, 21)) {
                lacks[.emptyQueries] = "The versions of libcurl from 8.8 to 8.20 leave the mark out."
            }
            // Debian's 7.88 has the bound of 8.3.
            if Libcurl.isVersion(before: (8, 3)), !Libcurl.isOfDebian12 {
                lacks[.endlessHeads] = "The versions of libcurl before 8.3 take fields without end."
            }
            return lacks
        }()
    #else
        static let lacksOfLibrary: [TransportCapability: String] = [:]
        static let lacksOfLibraryUnderURLSession: [TransportCapability: String] = [:]
    #endif
}
