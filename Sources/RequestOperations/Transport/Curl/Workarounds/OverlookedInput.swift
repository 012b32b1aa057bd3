#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl before 8.1.
    //
    // When the receive buffer of an HTTP/2 response was full, everything after it on the connection waits inside libcurl,
    // also what belongs to other responses. No socket reports it any more.

    extension CurlLibrary {
        /// Whether the library may hold back input of an HTTP/2 connection until more input arrives.
        static let overlooksInput = version < Version(8, 1)
    }

    extension CurlDriver {
        /// Makes libcurl look for more input after a turn in which something came over HTTP/2.
        func lookForInput() {
            guard !readSockets.isEmpty else { return }
            for transfer in active where !transfer.isReceivingPaused {
                if let socket = transfer.socket, readSockets.contains(socket) {
                    transfer.easy?.run(paused: transfer.pauseMask)
                }
            }
            readSockets.removeAll(keepingCapacity: true)
        }
    }

    extension CurlTransfer {
        /// Something came for the transfer, or it has ended. The input after that may belong to others.
        func noticeInput() {
            guard CurlLibrary.overlooksInput, mayUseHTTP2, let socket else { return }
            driver.readSockets.insert(socket)
        }
    }
#endif
