#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl 7.88 (curl issue 10634).
    //
    // When told to use HTTP/2 by prior knowledge, it starts HTTP/2 on every connection, also on one that already speaks it,
    // which breaks that. (With TLS, it does so only where ALPN settled nothing.) So handles are set up in one way to make
    // such a connection, and in the usual way to use one. A transfer that finds none must not make one of HTTP/1.1: it is
    // turned back, and makes one or waits for another transfer's.

    extension HandleSettings {
        /// Whether handles must be set up differently to make connections of HTTP/2 without TLS than to use them.
        func makesConnectionsApart(isSecure: Bool) -> Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 88) && CurlLibrary.version < CurlLibrary.Version(8, 0)
                && !isSecure && speaksHTTP2ByPriorKnowledge && mayUseHTTP2(isSecure: false)
        }
    }

    extension CurlTransfer {
        /// libcurl found no connection for a transfer that must not make one.
        func turnBack() {
            // libcurl may try the other addresses of the host before the transfer is removed.
            guard place != .turnedBack else { return }
            driver.move(self, to: .turnedBack)
            // After it was sent once, it may have to wait for others to connect.
            if sends > 0 { deadlines.connect = nil }
            driver.turnedBack.append(self)
        }
    }

    extension CurlDriver {
        /// Takes transfers back from libcurl that found no connection and must not make one. They are to make one now, or
        /// to wait for another transfer's. (libcurl would try all addresses of a host before it ends them, one now and one
        /// later.)
        func connectTurnedBack(_ multi: UnsafeMutableRawPointer) {
            guard !turnedBack.isEmpty else { return }
            for transfer in turnedBack {
                guard transfer.isActive, transfer.outcome == nil, let easy = transfer.easy else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                connectsAnew(transfer, easy, multi)
            }
            turnedBack.removeAll(keepingCapacity: true)
        }
    }
#endif
