#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    extension CurlTransfer {
        /// What was measured; called when the transfer has ended, before its handle is used again.
        func timings() -> TransferTimings {
            var timings = TransferTimings()
            if began > 0 { timings.queue = .nanoseconds(began - submitted) }
            timings.wasReplayed = wasReplayed
            guard let easy, began > 0 else { return timings }
            var measures = rocurl_measures()
            rocurl_measure(easy.pointer, &measures)
            let queue = began - submitted
            func time(_ microseconds: Int64) -> Duration? {
                microseconds > 0 ? .nanoseconds(queue + microseconds * 1000) : nil
            }
            if sends > 0 {
                let isReused = measures.new_connections == 0
                timings.connectionWasReused = isReused
                timings.requestSent = time(measures.pretransfer)
                if !isReused {
                    timings.nameLookup = lookupName == nil ? nil : time(measures.name_lookup)
                    timings.connect = time(measures.connect)
                    timings.secureConnect = time(measures.secure_connect)
                }
                timings.firstByte = time(measures.first_byte)
                timings.bytesSent = measures.sent
                timings.bytesReceived = measures.received
            }
            timings.total = .nanoseconds(queue + measures.total * 1000)
            if let address = measures.address, address.pointee != 0 {
                timings.remoteAddress = String(cString: address)
            }
            return timings
        }
    }
#endif
