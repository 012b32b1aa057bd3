#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Requests that are given to libcurl once more.
    extension CurlDriver {
        /// Makes a request connect, or wait for a connection that another makes, if it was not sent. That happens when
        /// libcurl chose a connection that has ended or is not ready yet. Returns whether it does so.
        func meetsNoConnection(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard transfer.outcome == nil, let multi else { return false }
            guard transfer.meetsEndedConnection || transfer.isUntouched && easy.hasUnfinishedConnection(code) else {
                return false
            }
            transfer.wasNotSent()
            connectsAnew(transfer, easy, multi)
            return true
        }

        /// Sends a request once more if its HTTP/2 connection ended without any answer to it. Returns whether it does
        /// so.
        ///
        /// The connection must be one that others had used before, or that we ended. (Over HTTP/1.1, and for most
        /// streams that a server refuses, libcurl does that by itself. Its versions 8.0 to 8.6 always do.)
        ///
        /// The first such request makes a connection, and the others wait for it. Otherwise they might find the old
        /// connection, which may still be there.
        func replays(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard transfer.mayBeReplayed, transfer.lostSilentConnection || easy.hasLostReusedConnection(code), let multi
            else { return false }
            transfer.lostSilentConnection = false
            transfer.deadlines.activity = now
            connectsAnew(transfer, easy, multi)
            return true
        }
    }

    extension CurlTransfer {
        /// Whether no byte of its body was sent and no byte of a response has come.
        fileprivate var isUntouched: Bool { head.isUntouched && progress.bytesSent == 0 }

        /// Whether the server ended only an HTTP/2 stream, and not its connection.
        var endedAlone: Bool {
            switch outcome {
            case .finished(CURLE_HTTP2_STREAM)?, .finished(CURLE_PARTIAL_FILE)?: easy?.endsEarly == false
            default: false
            }
        }

        /// Whether it may be sent a second time: it was sent once, and nothing of a response has come.
        fileprivate var mayBeReplayed: Bool {
            outcome == nil && sends == 1 && isSafe && upload == nil && head.isUntouched
        }
    }

    extension EasyHandle {
        /// Whether libcurl chose a connection through a proxy that another transfer is still making.
        fileprivate func hasUnfinishedConnection(_ code: CURLcode) -> Bool {
            CurlLibrary.choosesUnfinishedConnections && code == CURLE_FAILED_INIT
                && message?.hasSuffix("send: no filter connected") == true
        }

        /// Whether libcurl ended the transfer because a connection ended that was not made for it.
        fileprivate func hasLostReusedConnection(_ code: CURLcode) -> Bool {
            switch code {
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR: break
            // Versions from 8.7 on report this code; others do so after GOAWAY.
            case CURLE_HTTP2: break
            // Versions up to 7.88 report these. If only one stream ends, the message is a different one.
            case CURLE_HTTP2_STREAM where endsEarly, CURLE_PARTIAL_FILE where endsEarly: break
            default: return false
            }
            var measures = rocurl_measures()
            rocurl_measure(pointer, false, &measures)
            return measures.new_connections == 0
        }

        fileprivate var endsEarly: Bool { message.map(CurlLibrary.tellsEndOfConnection) ?? false }
    }
#endif
