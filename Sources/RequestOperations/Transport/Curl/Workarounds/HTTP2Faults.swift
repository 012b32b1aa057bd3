#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // Faults of libcurl with HTTP/2.

    // Before 8.4, requests that share a connection harm one another: bytes of responses are lost or exchanged, answers are
    // lost, a slow consumer holds up the others. So HTTP/2 is not spoken by default, and where it is asked for, a connection
    // carries one request at a time.

    extension CurlLibrary {
        /// Whether requests share connections of HTTP/2.
        static let sharesConnections = version >= Version(8, 4)
    }

    // 7.88, told to use HTTP/2 by prior knowledge, starts it on every connection, also on one that already speaks it, which
    // breaks that (curl issue 10634). (With TLS, it does so only where ALPN settled nothing.) So handles are set up in one
    // way to make such a connection, and in the usual way to use one. A connection that is made in the usual way would speak
    // HTTP/1.1. So none is, and the transfer counts as one whose connection has ended.

    extension HandleSettings {
        /// Whether libcurl would start HTTP/2 without TLS on connections that speak it.
        func beginsHTTP2Twice(isSecure: Bool) -> Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 88) && CurlLibrary.version < CurlLibrary.Version(8, 0)
                && !isSecure && configuration.httpVersions == .http2PriorKnowledge && mayUseHTTP2(isSecure: false)
        }
    }

    extension CurlTransfer {
        /// Whether its handle must be set up differently to make a connection than to use one.
        var makesConnectionsApart: Bool { driver.settings.beginsHTTP2Twice(isSecure: isSecure) }

        /// Whether libcurl may make a connection for it as its handle is set up.
        func mayMakeConnection() -> Bool {
            guard makesConnectionsApart, easy?.makesHTTP2 == false else { return true }
            connection.loss = .beforeUse
            return false
        }
    }

    // 7.88 to 8.14: when a stream is broken off, the server learns of it only with the next data on the connection. So a
    // connection that nobody else uses ends with the stream. (Debian 12 and 13 and Ubuntu 24.04 have such versions.)

    extension CurlLibrary {
        /// Whether the library delays the reset when it breaks off an HTTP/2 stream.
        static let holdsBackResets = version >= Version(7, 88) && version < Version(8, 15)
    }

    extension CurlTransfer {
        /// Ends the connection of a transfer that libcurl will not carry out to its end, if nobody else uses it then.
        func endConnectionIfAlone() {
            if CurlLibrary.holdsBackResets, mayBreakOffStream { easy?.keepConnection(false) }
        }
    }
#endif
