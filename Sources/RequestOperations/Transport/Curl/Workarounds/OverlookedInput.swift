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
            guard !connectionsWithInput.isEmpty else { return }
            for transfer in active where transfer.connection.known?.hasInput == true {
                if !transfer.paused.contains(.receiving) { transfer.easy?.run(paused: transfer.paused) }
            }
            for connection in connectionsWithInput { connection.hasInput = false }
            connectionsWithInput.removeAll(keepingCapacity: true)
        }
    }

    extension CurlTransfer {
        /// Something came for the transfer, or it has ended. The input after that may belong to others.
        func noticeInput() {
            guard CurlLibrary.overlooksInput, mayUseHTTP2, let known = connection.known, !known.hasInput else { return }
            known.hasInput = true
            driver.connectionsWithInput.append(known)
        }
    }
#endif
