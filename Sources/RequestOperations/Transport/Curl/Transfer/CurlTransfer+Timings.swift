#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    extension CurlTransfer {
        /// Whether libcurl had chosen another connection, but the request was not sent again over it.
        private var wasRefusedReplay: Bool { if case .stopped(.replayRefused)? = outcome { true } else { false } }

        /// The measured times. Called when the transfer has ended, before its handle is used again.
        func timings() -> TransferTimings {
            var timings = TransferTimings()
            timings.total = .nanoseconds(ended - submitted)
            if began > 0 { timings.queue = .nanoseconds(began - submitted) }
            timings.wasReplayed = wasReplayed
            // If libcurl did nothing with a handle, its values are those of an earlier transfer.
            guard let easy, hasSocket || sends > 0 else { return timings }
            var measures = rocurl_measures()
            rocurl_measure(easy.pointer, sends == 0, &measures)
            // libcurl measures from when it begins, or begins again after a wait or a dead connection. But it repeats a
            // request that was answered with 417 within the same measurement.
            let isOneCourse = sends > 1 && !wasReplayed
            let start = (isOneCourse ? began : max(began, sent - measures.request_sent * 1000)) - submitted
            func time(_ microseconds: Int64) -> Duration? {
                microseconds > 0 ? .nanoseconds(start + microseconds * 1000) : nil
            }
            if sends == 0 || measures.new_connections > 0 {
                timings.nameLookup = hasName ? time(measures.name_lookup) : nil
                timings.connect = time(measures.connect)
                timings.secureConnect = time(measures.secure_connect)
            }
            if sends > 0 {
                timings.connectionWasReused = wasRefusedReplay ? reusedConnection : measures.new_connections == 0
                timings.requestSent = .nanoseconds(sent - submitted)
                timings.firstByte = firstByte > 0 ? .nanoseconds(firstByte - submitted) : nil
                timings.bytesSent = measures.sent
                timings.bytesReceived = measures.received
            }
            if let address = measures.address, address.pointee != 0 {
                timings.remoteAddress = String(cString: address)
            }
            return timings
        }
    }
#endif
