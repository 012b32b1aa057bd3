#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

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
            return Version(number: rocurl_version_number())
        }()

        /// The oldest version that is supported (Ubuntu 22.04 has it).
        static let oldest = Version(7, 81)

        /// What is wrong with a version; `nil` if it is supported.
        static func objection(to version: Version) -> String? {
            version < oldest ? "libcurl \(version) runs, and \(oldest) or later is needed" : nil
        }

        /// The name of the TLS library, if libcurl silently drops a client certificate from memory with it.
        static let tlsLibraryWithoutIdentities: String? = {
            _ = version
            guard let name = rocurl_tls_library().map({ String(cString: $0) }) else { return nil }
            return ["GnuTLS", "NSS", "rustls", "BearSSL"].contains { name.hasPrefix($0) } ? name : nil
        }()

        /// Whether the chain that the TLS library verified can be looked at.
        static let tellsChains: Bool = {
            _ = version
            // The functions that look at chains must be those of the library that makes them.
            return rocurl_tls_library().map { String(cString: $0) } == "OpenSSL/"
                + String(cString: rocurl_openssl_version())
        }()

        /// Whether the library, after one address of a host refuses, tries the next one only when it happens to run
        /// again.
        static let forgetsAddresses = version >= Version(7, 88) && version < Version(8, 4)

        /// Whether the library starts HTTP/2 twice when told to use it by prior knowledge. It does so on a connection
        /// that already speaks HTTP/2, which breaks the connection (curl issue 10634). With TLS, it does so only where
        /// ALPN settled nothing.
        static let beginsHTTP2Twice = version >= Version(7, 88) && version < Version(8, 0)

        /// Whether the library keeps the bytes that it held back for a paused transfer that ends while others use its
        /// connection. It delivers them to the next paused transfer of the handle.
        static let keepsHeldBackBytes = version < Version(8, 1)

        /// Whether the library may write to freed memory when an HTTP/1 head begins with a folded line (curl issues
        /// 11101 and 11620). It appends the line to the last field of the previous response. It frees that field when
        /// the handle is given to it again. So a handle serves one transfer, and is not given to libcurl again once a
        /// field has come.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)

        /// Whether the library asks for each piece of a body whether to decode it. So we can refuse that after we know
        /// the head. Later versions decide at the line with the coding.
        static let asksLateWhetherToDecode = version < Version(8, 5)

        /// Whether the library remembers how much of a head was unsent when a request ended. It then counts that many
        /// bytes of the handle's next body as a head.
        static let keepsUnsentHeads = version >= Version(8, 7) && version < Version(8, 13)

        /// Whether the library lets requests use a connection through a proxy that another request is still making, and
        /// fails them. It does so once it knows that a host speaks HTTP/2.
        static let choosesUnfinishedConnections = version >= Version(7, 88) && version < Version(8, 0)

        /// Whether the library lets no other request use an HTTP/2 connection before its first response has come (curl
        /// issue 18177; Debian 13 has such a version). The others make connections of their own.
        static let waitsForFirstResponse = version >= Version(8, 13) && version < Version(8, 16)

        /// Whether the library, after it sent a request's own `Host` field, keeps using that host for the cookies of
        /// all later requests of the handle. It does so even after a reset.
        static let keepsCookieHosts = version < Version(8, 20)

        /// Whether the library, when told to use no folder or no file of roots, goes back to the one that it was built
        /// with.
        static let restoresRoots = version >= Version(8, 21)

        /// Whether the threads of look-ups belong to the multi handle, which waits for them to end.
        static let keepsThreadsForLookups = version >= Version(8, 20)

        /// Whether the library counts the wait for one of a limited number of connections as time for connecting.
        static let countsWaitsAsConnecting = version >= Version(8, 0)

        /// Whether the library keeps the roots that it has read from a file, if it reads them from nowhere else.
        static let keepsRoots = version >= Version(7, 87)

        static func has(_ feature: Int32) -> Bool {
            features & UInt32(bitPattern: feature) != 0
        }

        /// The features; read once, because libcurl builds a full description of itself each time.
        private static let features: UInt32 = {
            _ = version
            return rocurl_features()
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
                case "", "identity", "x-gzip": has(CURL_VERSION_LIBZ)
                case let name: knownCodings.contains { $0.0 == name && has($0.1) }
                }
            }
        }

        /// Whether a message says that a look-up did not even begin, as libcurl before 8.20 reports it.
        static func lacksThread(_ message: String) -> Bool { message.hasPrefix("getaddrinfo() thread failed") }

        /// Whether a message says that the connection ended, in the words of the system, of OpenSSL or of GnuTLS.
        static func tellsLoss(_ message: String) -> Bool {
            [
                "Connection reset by peer", "Broken pipe", "SSL_ERROR_SYSCALL", "unexpected eof",
                "non-properly terminated", "in the pull function", "in the push function",
            ].contains { message.contains($0) }
        }

        /// Whether a message about an HTTP/2 stream says that the whole connection ended, as libcurl up to 7.88 reports
        /// it. libcurl keeps the first message of a transfer, so a failed write to the connection hides its own words.
        static func tellsEndOfConnection(_ message: String) -> Bool {
            message.hasSuffix("before end of the underlying stream") || tellsLoss(message)
        }

        /// Whether a message says that an HTTP/2 stream was reset, but not why, as libcurl 8.1 always does.
        static func tellsReset(_ message: String) -> Bool { message.hasSuffix(" was reset") }

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
        static var now: Int64 { rocurl_now() }
    }
#endif
