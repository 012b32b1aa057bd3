#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    // What versions of libcurl do wrong with a handle, or with what one sends and receives.

    // 7.83 to 8.0 may write to freed memory when an HTTP/1 head begins with a folded line (curl issues 11101 and 11620): they
    // append the line to the last field of the previous response, which they free when the handle is used again. With
    // `CURLOPT_HEADER` they give each line to the write function before they store it, and an error there comes first. So the
    // write function refuses such a line.

    extension CurlLibrary {
        /// Whether the library may write to a field that it has freed.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)
    }

    extension CurlTransfer {
        /// Takes a line of the head that libcurl is about to store. Returns `nil` if the bytes are of the body.
        func mayStore(_ line: UnsafeRawBufferPointer) -> Receipt? {
            guard CurlLibrary.remembersFreedFields, !head.isComplete, let start = line.baseAddress, !line.isEmpty else {
                return nil
            }
            // A line of more than 16 KiB comes in pieces.
            if let guardedEnd {
                guard start == guardedEnd else {
                    stop(.failed(.malformedResponse, HeadReader.bodyInHead))
                    return .stopped
                }
            } else if !head.hasField, line[0].isSpaceOrTab {
                stop(.failed(.malformedResponse, HeadReader.foldedStart))
                return .stopped
            }
            guardedEnd = start + line.count
            return .taken
        }
    }

    extension EasyHandle {
        /// Whether libcurl has got a field. Before 7.83 it does not report that.
        var hasUntoldField: Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 83) && rocurl_stores_fields(pointer)
        }
    }

    // 8.7 to 8.12 remember how much of a head was unsent when a request ended. They count that many bytes of the handle's
    // next body as a head. So such a handle serves no other transfer.

    extension CurlTransfer {
        /// Whether its request may have ended before all of its head was sent. A server may answer with an error before
        /// that.
        var mayHaveUnsentHead: Bool {
            CurlLibrary.version >= CurlLibrary.Version(8, 7) && CurlLibrary.version < CurlLibrary.Version(8, 13)
                && (!head.isComplete || head.status >= 400)
        }
    }

    extension CurlLibrary {
        /// Before 8.20, a handle that sent a request's own `Host` field uses that host for the cookies of all later requests,
        /// even after a reset. So it serves no other transfer, if the transport keeps cookies.
        static let keepsCookieHosts = version < Version(8, 20)

        /// From 8.8 to 8.20, the `?` of an empty query is left out. So the target of such a request is set besides its URL,
        /// unless a proxy needs all of it.
        static let losesEmptyQueries = version >= Version(8, 8) && version < Version(8, 21)

        /// From 8.16 on, a private key that cannot be used is a bad argument. A bad argument has other causes too, so the
        /// message decides.
        static func isAboutUnusableKey(_ message: String) -> Bool { message.hasPrefix("unable to set private key") }
    }

    // Faults of libcurl with HTTP/2.

    // Before 8.4, requests that share a connection harm one another: bytes of responses are lost or exchanged, answers are
    // lost, a slow consumer holds up the others. So HTTP/2 is not spoken by default, and where it is asked for, a connection
    // carries one request at a time.

    extension CurlLibrary {
        /// Whether requests share connections of HTTP/2.
        static let sharesConnections = version >= Version(8, 4)
    }

    // With HTTP/2 by prior knowledge, 7.88 starts HTTP/2 on every connection. That breaks a connection that already speaks
    // it (curl issue 10634). (With TLS, it does so only where ALPN settled nothing.) So handles are set up in one way to
    // make such a connection. To use one, they are set up in the usual way. A connection that is made in the usual way would
    // speak HTTP/1.1. So no such connection is made, and the transfer counts as one whose connection has ended.

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
    // connection that no other transfer uses ends with the stream. (Debian 12 and 13 and Ubuntu 24.04 have such
    // versions.)

    extension CurlLibrary {
        /// Whether the library delays the reset when it breaks off an HTTP/2 stream.
        static let holdsBackResets = version >= Version(7, 88) && version < Version(8, 15)
    }

    extension CurlTransfer {
        /// Ends the connection of a transfer that libcurl will not carry out to its end, if no other transfer uses it
        /// then.
        func endConnectionIfAlone() {
            if CurlLibrary.holdsBackResets, mayBreakOffStream { easy?.keepConnection(false) }
        }
    }

    // What versions of libcurl do wrong while they wait.

    extension CurlLibrary {
        /// From 8.0 on, the wait for one of a limited number of connections counts as time for connecting. So only the driver
        /// enforces the limit then; see ``EasyHandle/liftConnectLimit()``.
        static let countsWaitsAsConnecting = version >= Version(8, 0)

        /// Before 7.87, removing a handle waits for the thread of its look-up. (Later, `CURLOPT_QUICK_EXIT` leaves the thread
        /// alone.) So the handle of a transfer that ends stays with libcurl until its look-up ends.
        static let waitsForLookups = version < Version(7, 87)
    }

    extension CurlDriver {
        /// Leaves the handle of a transfer that ends with libcurl. A handle without a transfer gets no socket, so it ends
        /// after its look-up.
        func leaveLookup(of transfer: CurlTransfer, _ easy: EasyHandle) {
            easy.transfer = nil
            transfer.easy = nil
            easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            lastingLookups[Unmanaged.passUnretained(easy).toOpaque()] = easy
        }

        /// From 7.88 to 8.3, libcurl tries the next address of a host after a refusal only when it happens to run again. So
        /// the driver runs it twice.
        var forgetsAddresses: Bool {
            connecting > 0 && CurlLibrary.version >= CurlLibrary.Version(7, 88)
                && CurlLibrary.version < CurlLibrary.Version(8, 4)
        }

        // 7.88 and others ask for events that they cannot use: while the window of an HTTP/2 upload is full, they ask when
        // they can write. So the thread rests a little after some turns in a row without any result, each time twice as long.

        func rest() {
            guard fruitlessTurns > 8 else { return }
            var time = timespec(tv_sec: 0, tv_nsec: 20_000 << min(fruitlessTurns - 8, 6))
            nanosleep(&time, nil)
        }

        /// A turn has ended, after a wait of so many nanoseconds.
        func noteTurn(waited: Int64) {
            let isFruitless = waited < 2_000_000 && steps == stepsBefore && inbox.withLock(\.isEmpty) && !isShakingHands
            fruitlessTurns = isFruitless ? fruitlessTurns + 1 : 0
            stepsBefore = steps
        }

        /// libcurl does not report the steps of a TLS handshake. While TCP connects, there is no work for the thread.
        private var isShakingHands: Bool {
            connecting > 0
                && active.contains { $0.place.isConnecting && $0.connection.newSockets.contains(where: isConnected) }
        }

        private func isConnected(_ socket: Int32) -> Bool {
            var noRoom: socklen_t = 0
            return getpeername(socket, nil, &noRoom) == 0
        }
    }
#endif
