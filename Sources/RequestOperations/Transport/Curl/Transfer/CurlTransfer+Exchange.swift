#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What comes for a transfer and what it sends, on the driver thread: what libcurl calls.
    extension CurlTransfer {
        /// Takes a line of a head. Returning `false` ends the transfer.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            guardedEnd = nil
            deadlines.activity = driver.now
            if phase == .request { phase = .head }
            if head.isAtStart { firstByte = CurlLibrary.now }
            switch head.add(line) {
            case .more:
                // The end of an informational head.
                if head.isAtStart {
                    firstByte = 0
                    driver.noteAnswer(self)
                }
                return true
            case .complete:
                driver.noteAnswer(self)
                guard takesFraming() else { return false }
                if let coding = head.contentEncoding, easy?.decodesBody == true {
                    // The caller has to handle an unknown coding. (From 8.5 on, libcurl decides that before it calls
                    // this function, and fails.)
                    if CurlLibrary.decodes(coding) {
                        beginDecoding(coding)
                    } else if !head.framing.isCoded {
                        // (Otherwise libcurl fails, since it decodes both or none.)
                        easy?.deliverUndecoded()
                    }
                }
                // If libcurl then sends the request again, it announces no body with this handle any more, to any server.
                if head.status == 417 { easy?.wearOut() }
                // And this head is not the answer then.
                if head.status != 417 || easy?.addsExpectation != true { publishHead() }
                return true
            case .tooLarge:
                stop(.headTooLarge)
                return false
            case .malformed(let reason):
                stop(.headMalformed(reason))
                return false
            }
        }

        func publishHead() {
            phase = .body
            var head = head.head(for: url)
            if head.status == 417, !wasRepeatedUnexpecting, !self.head.takesSeveral {
                head.refusesAddedExpectation = easy?.addsExpectation ?? false
            }
            exchange.withLock { [head] in $0.headArrived(head) }
            driver.markReady(self)
        }

        enum Receipt {
            case taken
            case paused
            case stopped
        }

        /// Takes bytes of the body.
        func receive(body bytes: UnsafeRawBufferPointer) -> Receipt {
            guard !bytes.isEmpty else { return .taken }
            // libcurl delivers what it held back for a transfer that has been stopped.
            guard outcome == nil else { return .stopped }
            deadlines.activity = driver.now
            if phase != .body {
                guard head.isComplete else {
                    stop(.headMalformed("a body came before the end of the head"))
                    return .stopped
                }
                publishHead()
            }
            if received == 0 { expectBody() }
            if keepsAll { return keep(bytes) }
            let excess = excess(with: bytes.count)
            switch exchange.withLock({
                $0.bodyArrived(bytes, kept: &kept, limit: keptLimit, isTooLarge: excess != nil)
            }) {
            case .keep:
                kept.append(contentsOf: bytes)
            case .keepAll:
                keepsAll = true
                return keep(bytes)
            case .write(let file):
                guard write(bytes, to: file) else { return .stopped }
            case .offered:
                driver.markReady(self)
            case .discard:
                return discard(bytes)
            case .pause:
                paused.insert(.receiving)
                hadToWait = true
                driver.markReady(self)
                return .paused
            case .tooLarge:
                stop(excess ?? .bodyTooLarge)
                return .stopped
            case .abort:
                stop(.aborted)
                return .stopped
            }
            advance(by: bytes.count)
            return .taken
        }

        /// The first bytes of the body have come.
        private func expectBody() {
            let length = easy?.contentLength ?? -1
            if limits.errorBody > 0 {
                // A small body never causes a pause. Of a large body, or of one of unknown length, little is read in
                // advance.
                keptLimit =
                    limits.errorBody >= 64 << 10 && (0...256 << 10).contains(length)
                    ? 256 << 10 : Int(min(limits.errorBody, 64 << 10))
            }
            // To avoid a pause for a larger body, the Task gets the head soon.
            if length < 0 || length > keptLimit { driver.markReady(self) }
            // The length comes from the server.
            kept.reserveCapacity(min(max(Int(clamping: length), 0), isForMemory ? 1 << 20 : keptLimit))
            if length >= 0, !head.isCoded {
                progress.bytesToReceive = length
            }
        }

        private func keep(_ bytes: UnsafeRawBufferPointer) -> Receipt {
            if let excess = excess(with: bytes.count) {
                stop(excess)
                return .stopped
            }
            kept.append(contentsOf: bytes)
            advance(by: bytes.count)
            return .taken
        }

        /// Which limit the body exceeds, or will exceed by the length that the head declares.
        private func excess(with count: Int) -> Cause? {
            let size = received + Int64(count)
            if let limit = limits.body, max(size, progress.bytesToReceive ?? 0) > limit { return .bodyTooLarge }
            guard head.isCoded, let ratio = limits.ratio, let easy else { return nil }
            // libcurl 8.7 and later count a piece after it was decoded. None is longer than this.
            let arrived = easy.received + (256 << 10)
            return size / ratio > arrived ? .bodyExpands : nil
        }

        /// Writes the bytes that were kept before the head was accepted, then the new bytes.
        private func write(_ bytes: UnsafeRawBufferPointer, to file: FileWriter) -> Bool {
            do {
                if !kept.isEmpty {
                    try kept.withUnsafeBytes { try file.write($0) }
                    kept = Data()
                }
                try file.write(bytes)
                return true
            } catch {
                stop(.sinkFailed(error))
                return false
            }
        }

        private func discard(_ bytes: UnsafeRawBufferPointer) -> Receipt {
            if kept.count < limits.keptErrorBody { kept.append(contentsOf: bytes) }
            received += Int64(bytes.count)
            guard received <= limits.errorBody else {
                stop(.drained)
                return .stopped
            }
            return .taken
        }

        private func advance(by count: Int) {
            received += Int64(count)
            if wantsProgress {
                progress.bytesReceived = received
                driver.progressed(self)
            }
        }

        // MARK: Request body

        /// Fills a buffer with bytes of the body. Returns what libcurl expects of its read function.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let upload else { return 0 }
            deadlines.activity = driver.now
            switch upload.read(into: buffer) {
            case .bytes(let count):
                progress.bytesSent += Int64(count)
                if phase == .request, count == 0 || progress.bytesSent == upload.length { phase = .head }
                if wantsProgress { driver.progressed(self) }
                return count
            case .notYet:
                paused.insert(.sending)
                return Int(CURL_READFUNC_PAUSE)
            case .failed(let error):
                stop(.sourceFailed(error))
                return Int(CURL_READFUNC_ABORT)
            }
        }

        /// Goes back to the start of the body. Before a request begins, libcurl 8.7 to 8.15 may go back in the body of the last
        /// request that its handle served.
        func rewind() -> Bool {
            guard progress.bytesSent > 0 else { return true }
            guard let upload, upload.rewind() else { return false }
            progress.bytesSent = 0
            return true
        }
    }
#endif
