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
            guard let easy, connection.hasSocket || sends > 0 else { return timings }
            // libcurl measures from when it begins, or begins again after a wait or a dead connection. But it repeats a
            // request that was answered with 417 within the same measurement.
            let isOneCourse = sends > 1 && !wasReplayed
            let start =
                (isOneCourse ? began : max(began, sent - easy.offset(CURLINFO_PRETRANSFER_TIME_T) * 1000)) - submitted
            func time(_ measure: CURLINFO) -> Duration? {
                let microseconds = easy.offset(measure)
                return microseconds > 0 ? .nanoseconds(start + microseconds * 1000) : nil
            }
            let newConnections = easy.number(CURLINFO_NUM_CONNECTS)
            if sends == 0 || newConnections > 0 {
                timings.nameLookup = hasName ? time(CURLINFO_NAMELOOKUP_TIME_T) : nil
                timings.connect = time(CURLINFO_CONNECT_TIME_T)
                timings.secureConnect = time(CURLINFO_APPCONNECT_TIME_T)
            }
            if sends > 0 {
                timings.connectionWasReused = wasRefusedReplay ? connection.isReused : newConnections == 0
                timings.requestSent = .nanoseconds(sent - submitted)
                timings.firstByte = firstByte > 0 ? .nanoseconds(firstByte - submitted) : nil
                timings.bytesSent = easy.sent
                timings.bytesReceived = easy.received
            }
            timings.remoteAddress = easy.remoteAddress
            return timings
        }
    }
#endif
