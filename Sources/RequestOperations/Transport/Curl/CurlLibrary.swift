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
            let code = rocurl_initialize()
            // It fails only when memory or the TLS library is broken; no request can be made in such a process.
            precondition(
                code == CURLE_OK, "libcurl cannot be initialised: \(String(cString: curl_easy_strerror(code)))")
            return Version(number: rocurl_version_number())
        }()

        /// The oldest version that is supported (Ubuntu 22.04 has it).
        static let oldest = Version(7, 81)

        /// What is to be said against a version; `nil` if it is supported.
        static func objection(to version: Version) -> String? {
            version < oldest ? "libcurl \(version) runs, and \(oldest) or later is needed" : nil
        }

        /// The TLS library, if it is one over which libcurl drops a client certificate from memory without a word.
        static let tlsLibraryWithoutIdentities: String? = {
            _ = version
            guard let name = rocurl_tls_library().map({ String(cString: $0) }) else { return nil }
            return ["GnuTLS", "NSS", "rustls", "BearSSL"].contains { name.hasPrefix($0) } ? name : nil
        }()

        /// Whether the library, when an address of a host refuses, goes on with the next one only when it happens to be run.
        static let forgetsAddresses = version >= Version(7, 88) && version < Version(8, 4)

        /// Whether the library, told to speak HTTP/2 by prior knowledge, begins it once more on a connection that speaks it
        /// already, which breaks the connection (curl issue 10634). With TLS it does so only where ALPN settled nothing.
        static let beginsHTTP2Twice = version >= Version(7, 88) && version < Version(8, 0)

        /// Whether the library reads on for a paused transfer of HTTP/1 as soon as it is told that it could, and then ends
        /// the transfer, without what it holds back, if the connection has ended. (Ubuntu 24.04 has this version.)
        static let readsWhilePaused = version >= Version(8, 5) && version < Version(8, 6)

        /// Whether the library may hold back input of a connection of HTTP/2 of which nothing reminds it but more input: when a
        /// response has filled a receive buffer, what came after it stays where it is, of other responses too, until that one
        /// has more room, and before 7.88 if it never has. Of an end that came with the last of what was too much, not even a
        /// second look reminds it.
        static let overlooksInput = version < Version(8, 1)

        /// Whether the end of an upload over HTTP/2 may spoil other responses on its connection, without a word: where libcurl has
        /// not reckoned with the end (the length was unknown, or an error was answered before it), it goes on to read, over what
        /// it has yet to deliver.
        static let mixesUpResponses = version < Version(8, 1)

        /// Whether the library keeps what it held back for a paused transfer when that ends while others use its connection, and
        /// delivers it to the next transfer of the handle that is paused.
        static let keepsHeldBackBytes = version < Version(8, 1)

        /// Whether the library may write to freed memory when a head of HTTP/1 begins with a folded line (curl issues 11101
        /// and 11620). It appends the line to the last field of the response before. It frees that field when the handle is
        /// given to it again. So a handle serves one transfer, and is not given to it again once a field has come.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)

        /// Whether the library asks for each piece of a body whether it is to decode it. So we can say no when we know the
        /// head. Later versions decide at the line with the coding.
        static let asksLateWhetherToDecode = version < Version(8, 5)

        /// Whether the library remembers how much of a head it had still to send when a request ended, and counts so many bytes of
        /// the handle's next body as a head.
        static let keepsUnsentHeads = version >= Version(8, 7) && version < Version(8, 13)

        /// Whether the library, once it knows that a host speaks HTTP/2, has requests use a connection through a proxy that another is
        /// still making, and fails them.
        static let choosesUnfinishedConnections = version >= Version(7, 88) && version < Version(8, 0)

        /// Whether the library takes an idle connection of HTTP/1 of which there is something to read for one that stands, though
        /// that is the end of TLS, or of the server's patience (7.88, which Debian 12 has), or does not look at one of which it
        /// was sure within the last second (from 8.22 on).
        static let overlooksEnds = version >= Version(7, 88) && version < Version(8, 0) || version >= Version(8, 22)

        /// Whether the socket that a transfer reads from is to be known.
        static let needsReadSockets = readsWhilePaused || overlooksInput

        /// Whether the library lets no other request use a connection of HTTP/2 before its first response has come, however long
        /// that takes and even if it never comes, and has them wait for that (curl issue 18177; Debian 13 has such a version).
        static let waitsForFirstResponse = version >= Version(8, 13) && version < Version(8, 16)

        /// Whether the library, having sent a field `Host` of the request's own, takes its host for that of all later requests of the
        /// handle when it comes to cookies, even after a reset.
        static let keepsCookieHosts = version < Version(8, 20)

        /// Whether the library, told that there is no folder or no file of roots, goes back to the one that it was built with.
        static let restoresRoots = version >= Version(8, 21)

        /// Whether the library, when a connection that others wait for turns out to speak HTTP/1.1, tells none of them, so that they
        /// wait until a response is whole.
        static let leavesWaiting = version >= Version(8, 10)

        /// Whether the library looks up the addresses of each family by itself, connects when it has those of one and has waited for
        /// the others a little, and remembers the name only if it has both by then.
        static let connectsBeforeNamesAreKnown = version >= Version(8, 20)

        /// Whether the threads of look-ups belong to the multi handle, which waits for their end.
        static let keepsThreadsForLookups = version >= Version(8, 20)

        /// Whether the library, when it breaks off a stream of HTTP/2, tells the server so only with what it sends next over the
        /// connection (7.88 to 8.14, which Debian 12 and 13 and Ubuntu 24.04 have).
        static let holdsBackResets = version >= Version(7, 88) && version < Version(8, 15)

        /// Whether the library counts the wait for one of a bounded number of connections as time for connecting.
        static let countsWaitsAsConnecting = version >= Version(8, 0)

        /// Whether the library keeps the roots that it has read from a file, if it reads them from nowhere else.
        static let keepsRoots = version >= Version(7, 87)

        static func has(_ feature: Int32) -> Bool {
            features & UInt32(bitPattern: feature) != 0
        }

        /// Asked for once: libcurl writes down all that it knows of itself each time.
        private static let features: UInt32 = {
            _ = version
            return rocurl_features()
        }()

        /// The content codings that libcurl can decode, each with the feature that it takes.
        private static let knownCodings = [
            ("gzip", CURL_VERSION_LIBZ), ("deflate", CURL_VERSION_LIBZ), ("br", CURL_VERSION_BROTLI),
            ("zstd", CURL_VERSION_ZSTD),
        ]

        /// The content codings that the library decodes, as `Accept-Encoding` wants them.
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

        /// Whether a message says that a look-up was not even begun, as libcurl before 8.20 does.
        static func lacksThread(_ message: String) -> Bool { message.hasPrefix("getaddrinfo() thread failed") }

        /// Whether a message says of a handshake of TLS that its connection ended, as those over OpenSSL and GnuTLS do.
        static func tellsLossInHandshake(_ message: String) -> Bool {
            [
                "Connection reset by peer", "Broken pipe", "SSL_ERROR_SYSCALL", "unexpected eof",
                "non-properly terminated", "in the pull function", "in the push function",
            ].contains { message.contains($0) }
        }

        /// Whether a message says of a stream of HTTP/2 that its connection ended, not it alone, as libcurl up to 7.88 does.
        static func tellsEndOfConnection(_ message: String) -> Bool {
            message.hasSuffix("before end of the underlying stream")
        }

        /// Whether a message says of a stream of HTTP/2 that it was reset, but not why, as libcurl 8.1 always does.
        static func tellsReset(_ message: String) -> Bool { message.hasSuffix(" was reset") }

        /// A message without what stands between its first and its last quotation mark, and without control characters: that
        /// can come from the certificate of whoever answers. (An apostrophe within a word is no quotation mark.)
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
