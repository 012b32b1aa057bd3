#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The libcurl that runs, which may be older or newer than the headers that this was compiled with.
    enum CurlLibrary {
        /// A version of the library, compared as a number.
        struct Version: Comparable, Sendable, CustomStringConvertible {
            private let number: UInt32

            init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32 = 0) {
                number = major << 16 | minor << 8 | patch
            }

            fileprivate init(number: UInt32) {
                self.number = number
            }

            static func < (first: Version, second: Version) -> Bool { first.number < second.number }

            var description: String { "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)" }
        }

        /// The version; reading it initialises the library.
        ///
        /// `curl_global_init` is not safe beside other threads that use the library, so it runs once, before the first
        /// driver thread is made.
        static let version: Version = {
            let code = curl_global_init(Int(CURL_GLOBAL_ALL))
            // It fails only when memory or the TLS library is broken; no request can be made in such a process.
            precondition(
                code == CURLE_OK, "libcurl cannot be initialised: \(String(cString: curl_easy_strerror(code)))")
            return Version(number: rocurl_version_number())
        }()

        /// The oldest version that is supported (Ubuntu 22.04 has it).
        static let oldest = Version(7, 81)

        static func has(_ feature: Int32) -> Bool {
            _ = version
            return rocurl_features() & UInt32(bitPattern: feature) != 0
        }

        /// Whether the library decodes all the content codings of a field's value.
        static func decodes(_ codings: String) -> Bool {
            codings.split(separator: ",").allSatisfy { coding in
                switch coding.trimmingCharacters(in: .whitespaces).lowercased() {
                case "", "identity", "gzip", "x-gzip", "deflate": has(CURL_VERSION_LIBZ)
                case "br": has(CURL_VERSION_BROTLI)
                case "zstd": has(CURL_VERSION_ZSTD)
                default: false
                }
            }
        }

        /// The default value of `User-Agent`.
        static let userAgent = "RequestOperations/1 libcurl/\(version)"

        /// A monotonic time in nanoseconds.
        static var now: Int64 { rocurl_now() }
    }
#endif
