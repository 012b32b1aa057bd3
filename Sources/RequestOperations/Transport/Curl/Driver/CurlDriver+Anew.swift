#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Requests that are given to libcurl once more.
    extension CurlDriver {
        /// Makes a request connect, or wait for a connection that another makes, if it was not sent. That happens when
        /// libcurl chose a connection that has ended or is not ready yet. Returns whether it does so.
        func meetsNoConnection(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard transfer.outcome == nil, let multi else { return false }
            guard transfer.connection.loss == .beforeUse || transfer.isUntouched && easy.hasUnfinishedConnection(code)
            else {
                return false
            }
            transfer.wasNotSent()
            connectAnew(transfer, easy, multi)
            return true
        }
    }

    extension CurlTransfer {
        /// Whether no byte of its body was sent and no byte of a response has come.
        fileprivate var isUntouched: Bool { head.isUntouched && progress.bytesSent == 0 }

        /// Whether the server ended only an HTTP/2 stream, and not its connection.
        var endedAlone: Bool {
            // If only one stream ends, the message does not speak of the connection.
            switch outcome {
            case .finished(CURLE_HTTP2_STREAM)?, .finished(CURLE_PARTIAL_FILE)?: easy?.endsEarly == false
            default: false
            }
        }
    }

    extension EasyHandle {
        fileprivate var endsEarly: Bool { message.map(CurlLibrary.tellsEndOfConnection) ?? false }
    }
#endif
