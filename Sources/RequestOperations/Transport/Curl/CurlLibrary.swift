#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The libcurl that runs. It may be older or newer than the headers that this code was compiled with.
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
            let code = rocurl_initialize()
            // It fails only when memory or the TLS library is broken; no request can be made in such a process.
            precondition(
                code == CURLE_OK, "libcurl cannot be initialised: \(String(cString: curl_easy_strerror(code)))")
            return Version(number: curl_version_info(CURLVERSION_FIRST).pointee.version_num)
        }()

        /// The oldest version that is supported (Ubuntu 22.04 has it).
        static let oldest = Version(7, 81)

        /// What is wrong with a version; `nil` if it is supported.
        static func objection(to version: Version) -> String? {
            version < oldest ? "libcurl \(version) runs, and \(oldest) or later is needed" : nil
        }

        /// The name of the TLS library, if libcurl silently drops a client certificate from memory with it.
        static let tlsLibraryWithoutIdentities: String? = {
            guard let name = build.tlsLibrary else { return nil }
            return ["GnuTLS", "NSS", "rustls", "BearSSL"].contains { name.hasPrefix($0) } ? name : nil
        }()

        /// Whether the chain that the TLS library verified can be looked at.
        ///
        /// The functions that look at chains must be those of the library that makes them.
        static let reportsChains = build.tlsLibrary == "OpenSSL/" + String(cString: rocurl_openssl_version())

        static func has(_ feature: Int32) -> Bool {
            build.features & feature != 0
        }

        /// What the library says about itself.
        struct Build {
            /// `CURL_VERSION_…` bits.
            fileprivate let features: Int32
            /// The name and version of the TLS library, such as "OpenSSL/3.0.11"; `nil` without one.
            let tlsLibrary: String?
            /// Where the library looks for the roots of the system; `nil` if it was built without them.
            let rootFile, rootFolder: String?
        }

        /// It is read once, because libcurl makes a new description of itself each time.
        static let build: Build = {
            _ = version
            let info = curl_version_info(CURLVERSION_SEVENTH).pointee
            return Build(
                features: info.features, tlsLibrary: info.ssl_version.map { String(cString: $0) },
                rootFile: info.cainfo.map { String(cString: $0) }, rootFolder: info.capath.map { String(cString: $0) })
        }()

        /// The content codings that libcurl can decode, each with the feature that it needs.
        private static let knownCodings = [
            ("gzip", CURL_VERSION_LIBZ), ("deflate", CURL_VERSION_LIBZ), ("br", CURL_VERSION_BROTLI),
            ("zstd", CURL_VERSION_ZSTD),
        ]

        /// The content codings that the library decodes, in the form of an `Accept-Encoding` value.
        static let decodedCodings = knownCodings.filter { has($0.1) }.map(\.0).joined(separator: ",")

        /// Whether the library decodes all the content codings of a field's value.
        static func decodes(_ codings: String) -> Bool {
            codings.split(separator: ",").allSatisfy { coding in
                switch coding.trimmingCharacters(in: .whitespaces).lowercased() {
                case "", "identity": true
                case "x-gzip": has(CURL_VERSION_LIBZ)
                case let name: knownCodings.contains { $0.0 == name && has($0.1) }
                }
            }
        }

        /// Whether a message says that a look-up did not even begin, as libcurl before 8.20 reports it.
        static func lacksThread(_ message: String) -> Bool { message.hasPrefix("getaddrinfo() thread failed") }

        /// Whether a message says that the connection ended, in the words of the system, of OpenSSL or of GnuTLS.
        static func isAboutLoss(_ message: String) -> Bool {
            [
                "Connection reset by peer", "Broken pipe", "SSL_ERROR_SYSCALL", "unexpected eof",
                "non-properly terminated", "in the pull function", "in the push function",
                // OpenSSL has no error of its own to report.
                "error:00000000:",
            ].contains { message.contains($0) }
        }

        /// Whether a message about an HTTP/2 stream says that the whole connection ended, as libcurl up to 7.88 reports
        /// it. libcurl keeps the first message of a transfer, so a failed write to the connection hides its own words.
        static func isAboutEndOfConnection(_ message: String) -> Bool {
            message.hasSuffix("before end of the underlying stream") || isAboutLoss(message)
        }

        /// Whether a message says that an HTTP/2 stream was reset, but not why, as libcurl 8.1 always does.
        static func isAboutReset(_ message: String) -> Bool { message.hasSuffix(" was reset") }

        /// Removes the text between the first and the last quotation mark of a message, and all control characters.
        /// That text can come from the certificate of any server that answers. (An apostrophe within a word is no
        /// quotation mark.)
        static func withoutQuotations(_ message: String) -> String {
            let characters = message.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
            func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar == "'" || scalar == "\"" }
            var before: Unicode.Scalar = " "
            let first = characters.firstIndex { scalar in
                defer { before = scalar }
                return isMark(scalar) && !before.properties.isAlphabetic
            }
            guard let first, let last = characters.lastIndex(where: isMark), first < last else {
                return String(String.UnicodeScalarView(characters))
            }
            return String(String.UnicodeScalarView(characters[...first] + ["\u{2026}"] + characters[last...]))
        }

        /// A monotonic time in nanoseconds.
        static var now: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }
#endif
