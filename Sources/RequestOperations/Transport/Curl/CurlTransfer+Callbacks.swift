#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// What happens to a transfer while libcurl works on it, on the driver thread.
    extension CurlTransfer {
        // MARK: Connection

        /// A look-up begins; `false` ends the transfer.
        func lookupBegins() -> Bool {
            guard maySendAgain() else { return false }
            endsWait()
            isLookingUp = true
            driver.lookupBegins(for: self)
            beginsToConnect()
            return true
        }

        /// A socket is about to be connected, so the look-up is done; `false` ends the transfer.
        func opens(_ descriptor: Int32) -> Bool {
            if !driver.sockets.opened(descriptor) { cannotWait() }
            readsFrom = nil
            guard maySendAgain() else { return false }
            isLookingUp = false
            driver.lookupEnded(for: self, connects: true)
            guard mayConnect else {
                turnBack()
                return false
            }
            endsWait()
            if hasSocket, !lastAddressIsUnreachable { triedReachable = true }
            onlySocket = hasSocket ? nil : descriptor
            hasSocket = true
            hasFreshSocket = true
            driver.opensConnection(self)
            beginsToConnect()
            driver.runAgainWhileConnecting()
            return true
        }

        private func turnBack() {
            guard !isTurnedBack else { return }
            // libcurl may try its other addresses before it is taken away.
            isTurnedBack = true
            // It may have to wait for others to connect, after it was sent once.
            if sends > 0 { deadlines.connect = nil }
            driver.turnedBack.append(self)
        }

        /// Whether there was no route to the address that failed last, if any did.
        var lastAddressIsUnreachable: Bool {
            guard hasSocket, let easy else { return false }
            return rocurl_system_error(easy.pointer) == Int(ENETUNREACH)
        }

        /// The system cannot watch the socket.
        func cannotWait() {
            stop(.shortage("the system cannot watch another socket"))
            driver.sweep(by: driver.now)
        }

        /// The time for connecting begins, for each connection of a request that is sent again; where the number of connections is
        /// bounded, when the wait for a free one ends.
        func beginsToConnect() {
            guard deadlines.connect == nil, let limit = limits.connect else { return }
            deadlines.connect = driver.now.adding(limit)
            driver.sweep(by: driver.now.adding(limit))
        }

        /// The connection stands and the request is sent next; `false` ends the transfer, or has it make a connection.
        func requestBegins(over connection: ConnectionEnds) -> Bool {
            guard maySendAgain() else { return false }
            localPort = connection.localPort
            if hasSocket {
                driver.sockets.stands(connection)
            } else if driver.sockets.hasEnded(connection) {
                meetsEndedConnection = true
                return false
            }
            isLookingUp = false
            endsWait()
            driver.lookupEnded(for: self, connects: false)
            sends += 1
            lacksDescriptor = false
            reusedConnection = !hasFreshSocket
            hasFreshSocket = false
            deadlines.connect = nil
            // It may be another connection, of which libcurl has not told yet.
            if sends > 1 { readsFrom = nil }
            sent = CurlLibrary.now
            firstByte = 0
            if sends == 1 {
                // What is sent again if the connection proves dead is sent for the last time: not over another old one. (Where
                // one takes many, each would make its own.)
                sharesConnection = driver.maySpeakHTTP2(self)
                if !sharesConnection { easy?.askForFreshConnection() }
            } else if head.status == 417 {
                head.startAgain()
                framedLength = nil
            } else {
                wasReplayed = true
            }
            phase = upload == nil ? .head : .request
            driver.sends(self)
            driver.makesRoom(self)
            deadlines.activity = driver.now
            deadlines.sent = 0
            deadlines.unreceived = -1
            if let idle = limits.idle {
                deadlines.look = sendsBody ? driver.look(after: idle) : .max
                driver.sweep(by: min(deadlines.look, driver.now.adding(idle)))
            }
            return true
        }

        /// Takes note that what seemed to be sent was not, and that it is given to libcurl anew.
        func wasNotSent() {
            if !meetsEndedConnection { sends -= 1 }
            meetsEndedConnection = false
            phase = .connect
            deadlines.connect = nil
            sent = 0
            readsFrom = nil
        }

        private static let maximumSends = 5

        /// libcurl sends a request again, whatever its method, if the connection that it reused ends without an answer. That
        /// is right for safe methods, once; another request may have been processed. One that was answered with 417
        /// (Expectation Failed) was not, and is sent again without the expectation.
        ///
        /// Over HTTP/2 it may have been refused instead, as are all beyond the number that a server answers on one connection
        /// (REFUSED_STREAM, GOAWAY: RFC 9113, section 8.7). libcurl tells nobody, so a safe one may be sent more often there.
        private func maySendAgain() -> Bool {
            guard sends > 0 else { return true }
            if isSafe, sends < (sharesConnection ? Self.maximumSends : 2) { return true }
            if sends == 1, head.status == 417 { return true }
            stop(.replayRefused)
            // Where libcurl would try the next address.
            driver.sweep(by: driver.now)
            return false
        }

        // MARK: Response

        /// Takes a line of a head; `false` ends the transfer.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            deadlines.activity = driver.now
            if phase == .request { phase = .head }
            if head.isAtStart { firstByte = CurlLibrary.now }
            switch head.add(line) {
            case .more:
                // The end of an informational head.
                if head.isAtStart {
                    firstByte = 0
                    driver.answers(self)
                }
                return true
            case .complete:
                driver.answers(self)
                guard takesFraming() else { return false }
                if let coding = head.contentEncoding, easy?.decodesBody == true {
                    // An unknown coding is the business of whoever asked for the body. (From 8.5 on libcurl has decided
                    // that before this is called, and fails.)
                    if CurlLibrary.decodes(coding) { beginDecoding(coding) } else { easy?.deliverUndecoded() }
                }
                if head.status == 417 {
                    // It is not the answer if libcurl then sends the request again, and announces no body with this handle any
                    // more, to whatever server.
                    easy?.wearOut()
                } else {
                    publishHead()
                }
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
            let received = head.received
            exchange.withLock { $0.headArrived(received) }
            // Most bodies for memory are whole soon, and the Task, which has nothing to do with a piece, is resumed once.
            driver.becomesReady(self, canWait: isForMemory)
        }

        enum Receipt {
            case taken
            case paused
            case stopped
        }

        /// Takes bytes of the body.
        func receive(body bytes: UnsafeRawBufferPointer) -> Receipt {
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return .taken }
            // What was held back for one that has been stopped.
            guard outcome == nil else { return .stopped }
            deadlines.activity = driver.now
            if phase != .body {
                guard head.isComplete else {
                    stop(.headMalformed("a body came before the end of the head"))
                    return .stopped
                }
                publishHead()
            }
            if CurlLibrary.overlooksInput { noticeFullBuffer(with: bytes.count) }
            let kept = self.kept ?? makeBuffer()
            if keepsAll { return keep(start, bytes.count, in: kept) }
            let isTooLarge = exceedsLimit(with: bytes.count)
            switch exchange.withLock({
                $0.bodyArrived(bytes, kept: kept, limit: keptLimit, isTooLarge: isTooLarge)
            }) {
            case .keep:
                kept.append(start, count: bytes.count)
            case .keepAll:
                keepsAll = true
                return keep(start, bytes.count, in: kept)
            case .write(let file):
                guard write(kept, bytes, to: file) else { return .stopped }
            case .offered:
                driver.becomesReady(self)
            case .discard:
                return discard(start, bytes.count, keptIn: kept)
            case .pause:
                isReceivingPaused = true
                wasReceivingPaused = true
                setInput(isWithheld: true)
                driver.becomesReady(self)
                return .paused
            case .tooLarge:
                stop(.bodyTooLarge)
                return .stopped
            case .abort:
                stop(.aborted)
                return .stopped
            }
            advance(by: bytes.count)
            return .taken
        }

        /// Where libcurl would read on for a paused transfer, keeps from it that it could, or does so no longer. (A connection
        /// of HTTP/2 serves others as well, and is read without loss.)
        func setInput(isWithheld: Bool) {
            guard CurlLibrary.readsWhilePaused, let readsFrom, !head.takesSeveral else { return }
            driver.sockets.setInput(isWithheld: isWithheld, of: readsFrom)
        }

        /// Has libcurl look for what it may hold back, if the buffer from which it delivers may have been full: of one that is
        /// not, more is known by its socket. (What is decompressed tells nothing of that.)
        private func noticeFullBuffer(with count: Int) {
            guard head.takesSeveral else { return }
            let filledBefore = mayFillBuffers
            mayFillBuffers = count + head.size >= Self.leastFullBuffer || head.contentEncoding != nil
            if mayFillBuffers || filledBefore { lookAgain() }
        }

        /// Less than the receive buffer of any handle.
        private static let leastFullBuffer = 8 << 10

        /// Takes note of the socket that libcurl reads from, where ``CurlLibrary/needsReadSockets``.
        func reads(from descriptor: Int32) {
            guard readsFrom != descriptor else { return }
            readsFrom = descriptor
            if mayFillBuffers { lookAgain() }
        }

        private func lookAgain() {
            driver.sockets.lookAgain(at: readsFrom)
        }

        /// The transfer has ended: has libcurl look for input that it holds back of the connection, if there may be some.
        func leavesInput() {
            // Of one that was not whole others may have filled the buffer.
            if mayFillBuffers || CurlLibrary.overlooksInput && mayBreakOffStream { lookAgain() }
        }

        /// Whether the connection is left to nobody at the end, so that the next thing to come over it is its own end.
        var leavesConnectionIdle: Bool { head.isComplete && !head.takesSeveral && pauseMask == 0 }

        /// Whether it uses a connection of which libcurl has not told anything, since it was paused before it ever had to wait.
        var usesUnknownSocket: Bool { pauseMask != 0 && readsFrom == nil }

        private func makeBuffer() -> ReceiveBuffer {
            let length = easy.map { rocurl_content_length($0.pointer) } ?? -1
            if limits.errorBody > 0 {
                // A small body is never paused for; of a large one, or of one of unknown length, little is read in advance.
                keptLimit =
                    limits.errorBody >= 64 << 10 && (0...256 << 10).contains(length)
                    ? 256 << 10 : Int(min(limits.errorBody, 64 << 10))
            }
            // What may be more than that is better not paused for.
            if length < 0 || length > keptLimit { driver.becomesReady(self) }
            let buffer = ReceiveBuffer(
                expecting: isForMemory ? Int(clamping: length) : min(Int(clamping: length), keptLimit))
            kept = buffer
            if length >= 0, head.contentEncoding == nil {
                declaredLength = length
                progress.bytesToReceive = length
            }
            return buffer
        }

        private func keep(_ start: UnsafeRawPointer, _ count: Int, in kept: ReceiveBuffer) -> Receipt {
            guard !exceedsLimit(with: count) else {
                stop(.bodyTooLarge)
                return .stopped
            }
            kept.append(start, count: count)
            advance(by: count)
            return .taken
        }

        /// Whether the body is larger than it may be, or will be by the length that the head declares.
        private func exceedsLimit(with count: Int) -> Bool {
            guard let limit = limits.body else { return false }
            return received + Int64(count) > limit || declaredLength > limit
        }

        /// Writes what was kept before the head was accepted, then new bytes.
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

        /// Fills a buffer with bytes of the body; the result is what libcurl expects of its read function.
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
                isSendingPaused = true
                return Int(CURL_READFUNC_PAUSE)
            case .failed(let error):
                stop(.sourceFailed(error))
                return Int(CURL_READFUNC_ABORT)
            }
        }

        func rewind() -> Bool {
            guard let upload, upload.rewind() else { return false }
            progress.bytesSent = 0
            return true
        }
    }

    extension Int64 {
        /// The sum, or the largest number.
        func adding(_ other: Int64) -> Int64 {
            let (sum, overflows) = addingReportingOverflow(other)
            return overflows ? .max : sum
        }
    }
#endif
