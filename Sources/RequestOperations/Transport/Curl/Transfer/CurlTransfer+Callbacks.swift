#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// What happens to a transfer while libcurl works on it, on the driver thread.
    extension CurlTransfer {
        // MARK: Connection

        /// A look-up begins. Returning `false` ends the transfer.
        func lookupBegins() -> Bool {
            guard maySendAgain() else { return false }
            startConnectLimit()
            let needsLookup = hasName || driver.mayUseProxy
            let mayWait = mayBeGivenAgain && !CurlLibrary.remembersFailures
            if needsLookup, place != .lookingUp {
                if driver.lookups.begin(at: driver.now) {
                    driver.move(self, to: .lookingUp)
                } else if mayWait {
                    driver.move(self, to: .lackingLookup)
                    return false
                }
            }
            wait?.end()
            return true
        }

        /// Whether a socket may be made for a connection to an address. The look-up is done.
        func mayOpen(for address: UnsafePointer<curl_sockaddr>) -> Bool {
            guard maySendAgain() else { return false }
            guard mayMakeConnection else {
                turnBack()
                return false
            }
            return mayConnect(to: address)
        }

        /// A socket is about to be connected.
        func opens(_ descriptor: Int32) {
            wait?.end()
            if connection.hasSocket, !lastAddressIsUnreachable { connection.triedReachable = true }
            connection.opens(descriptor)
            if place != .lackingDescriptor { driver.move(self, to: .connecting) }
            startConnectLimit()
        }

        /// Whether an address failed and there was no route to the last one.
        var lastAddressIsUnreachable: Bool {
            connection.hasSocket && easy?.systemError == Int(ENETUNREACH)
        }

        /// Starts the connect limit, for each connection of a request that is sent again. Where the number of
        /// connections is limited, it starts when the wait for a free one ends.
        func startConnectLimit() {
            guard deadlines.connect == nil, let limit = limits.connect else { return }
            deadlines.connect = driver.now.adding(limit)
            driver.sweep(by: driver.now.adding(limit))
        }

        /// The connection is ready and the request is sent next. Returning `false` ends the transfer, or makes it
        /// connect anew.
        func requestBegins(localPort: Int32) -> Bool {
            guard maySendAgain(), takeConnection(localPort: localPort) else { return false }
            driver.move(self, to: .sent)
            wait?.end()
            sends += 1
            deadlines.connect = nil
            sent = CurlLibrary.now
            firstByte = 0
            if sends == 1 {
                // If the connection proves dead, the request is sent one last time, so not over another old connection.
                // (Where one connection takes many requests, each would make its own.)
                connection.isShared = mayUseHTTP2 && driver.sockets.reached(origin)?.speaksHTTP2 != false
                if !connection.isShared { easy?.askForFreshConnection() }
            } else if head.status == 417 {
                wasRepeatedUnexpecting = true
                head.startAgain()
                framedLength = nil
            } else {
                wasReplayed = true
                if isLastSend { easy?.askForFreshConnection() }
            }
            phase = upload == nil ? .head : .request
            driver.noteSent(self)
            deadlines.activity = driver.now
            deadlines.sent = 0
            deadlines.unreceived = -1
            if let idle = limits.idle {
                deadlines.nextUploadCheck = sendsBody ? driver.look(after: idle) : .max
                driver.sweep(by: min(deadlines.nextUploadCheck, driver.now.adding(idle)))
            }
            return true
        }

        /// The request is sent next over the connection with a local port. Returns `false` if that has ended.
        private func takeConnection(localPort: Int32) -> Bool {
            connection.isReused = connection.newSockets.isEmpty
            connection.loss = nil
            if connection.isReused {
                switch driver.sockets.reuse(
                    localPort: localPort, origin: origin, isPlain: !isSecure && !mayUseHTTP2, mayShare: mayUseHTTP2)
                {
                case .ended:
                    easy?.keepConnection(false)
                    connection.loss = .beforeUse
                    return false
                case .usable(let known):
                    connection.known = known
                }
            } else {
                connection.known = driver.sockets.register(
                    connection.newSockets, localPort: localPort, origin: origin, mayShare: mayUseHTTP2)
                connection.newSockets = []
            }
            if mayUseHTTP2 { connection.known?.limitSilence(to: limits.idle) }
            return true
        }

        /// Records that a request that seemed to be sent was not, and that libcurl gets it again.
        func wasNotSent() {
            if connection.loss != .beforeUse { sends -= 1 }
            connection.loss = nil
            phase = .connect
            deadlines.connect = nil
            if sends == 0 { sent = 0 }
            easy?.keepConnection(true)
        }

        private static let maximumSends = 5

        /// Whether it was sent so often that it may be sent only once more. Then it goes over a connection of its own.
        var isLastSend: Bool { sends == Self.maximumSends - 1 }

        /// Whether libcurl may send the request again.
        ///
        /// libcurl repeats any request, even an unsafe one, if the connection that it reused ends without an answer.
        /// For safe methods that is right, once. Other requests may have been processed. A request that was answered
        /// with 417 (Expectation Failed) was not processed, and is sent again without an expectation that libcurl added.
        /// One that the caller added would be sent again, too. So that answer stands, and libcurl ignores its body.
        ///
        /// Over HTTP/2, the server may have refused the request instead. It refuses all requests beyond the number that
        /// it answers on one connection (REFUSED_STREAM, GOAWAY: RFC 9113, section 8.7). libcurl does not report that,
        /// so a safe request may be sent more often there.
        private func maySendAgain() -> Bool {
            guard sends > 0 else { return true }
            if head.status == 417, phase == .body {
                outcome = outcome ?? .finished(CURLE_OK)
                driver.sweep(by: driver.now)
                return false
            }
            if isSafe, sends < (connection.isShared ? Self.maximumSends : 2) { return true }
            if sends == 1, head.status == 417 { return true }
            stop(.replayRefused)
            // libcurl would otherwise try the next address.
            driver.sweep(by: driver.now)
            return false
        }

        // MARK: Response

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
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return .taken }
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
            noticeInput()
            let kept = self.kept ?? makeBuffer()
            if keepsAll { return keep(start, bytes.count, in: kept) }
            let excess = excess(with: bytes.count)
            switch exchange.withLock({
                $0.bodyArrived(bytes, kept: kept, limit: keptLimit, isTooLarge: excess != nil)
            }) {
            case .keep:
                kept.append(start, count: bytes.count)
            case .keepAll:
                keepsAll = true
                return keep(start, bytes.count, in: kept)
            case .write(let file):
                guard write(kept, bytes, to: file) else { return .stopped }
            case .offered:
                driver.markReady(self)
            case .discard:
                return discard(start, bytes.count, keptIn: kept)
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

        private func makeBuffer() -> ReceiveBuffer {
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
            let buffer = ReceiveBuffer(
                expecting: isForMemory ? Int(clamping: length) : min(Int(clamping: length), keptLimit))
            kept = buffer
            if length >= 0, !head.isCoded {
                progress.bytesToReceive = length
            }
            return buffer
        }

        private func keep(_ start: UnsafeRawPointer, _ count: Int, in kept: ReceiveBuffer) -> Receipt {
            if let excess = excess(with: count) {
                stop(excess)
                return .stopped
            }
            kept.append(start, count: count)
            advance(by: count)
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
        private func write(_ kept: ReceiveBuffer, _ bytes: UnsafeRawBufferPointer, to file: FileWriter) -> Bool {
            do {
                if !kept.isEmpty {
                    try file.write(kept.bytes)
                    kept.removeAll()
                }
                try file.write(bytes)
                return true
            } catch {
                stop(.sinkFailed(error))
                return false
            }
        }

        private func discard(_ start: UnsafeRawPointer, _ count: Int, keptIn kept: ReceiveBuffer) -> Receipt {
            if kept.count < limits.keptErrorBody { kept.append(start, count: count) }
            received += Int64(count)
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
