#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct CurlLibraryTests {
        @Test func `An older libcurl than the oldest supported is objected to, with both versions`() {
            #expect(
                CurlLibrary.objection(to: CurlLibrary.Version(7, 79, 1))
                    == "libcurl 7.79.1 runs, and 7.81.0 or later is needed")
        }

        @Test(arguments: [
            ("subject name 'a' evil 'b' does not match 'c'", "subject name '\u{2026}'"),
            ("Couldn't connect to \"x\" at all", "Couldn't connect to \"\u{2026}\" at all"),
            ("Couldn't connect\r\nto it", "Couldn't connectto it"),
        ])
        func `A message quotes nothing that a server wrote`(message: String, kept: String) {
            #expect(CurlLibrary.withoutQuotations(message) == kept)
        }

        @Test(arguments: [
            ("getaddrinfo() thread failed to start", true), ("Could not resolve host: getaddrinfo()", false),
            ("", false),
        ])
        func `A look-up for which there was no thread is known by its message`(message: String, isOne: Bool) {
            #expect(CurlLibrary.lacksThread(message) == isOne)
        }

        @Test(arguments: [
            ("HTTP/2 stream 3 was not closed cleanly before end of the underlying stream", true),
            ("Send failure: Broken pipe", true), ("Recv failure: Connection reset by peer", true),
            ("HTTP/2 stream 3 was not closed cleanly: INTERNAL_ERROR (err 2)", false), ("", false),
        ])
        func `The end of a connection of HTTP/2 is known by the message of any of its streams`(
            message: String, isOne: Bool
        ) {
            #expect(CurlLibrary.isAboutEndOfConnection(message) == isOne)
        }

        @Test(arguments: [
            ("HTTP/2 stream 1 was reset", true), ("transfer closed with 5 bytes remaining to read", false), ("", false),
        ])
        func `A stream that was reset is known by its message`(message: String, isOne: Bool) {
            #expect(CurlLibrary.isAboutReset(message) == isOne)
        }

        @Test func `The oldest supported libcurl and the one that runs are not objected to`() {
            #expect(CurlLibrary.objection(to: CurlLibrary.oldest) == nil)
            #expect(CurlLibrary.objection(to: CurlLibrary.version) == nil)
        }
    }

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
