#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

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
                if head.status == 417 { easy?.isWornOut = true }
                // And this head is not the answer then.
                if head.status != 417 || easy?.addsExpectation != true { publishHead() }
                return true
            case .malformed(let reason):
                stop(.failed(.malformedResponse, reason))
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

        func receive(body bytes: UnsafeRawBufferPointer) -> Receipt {
            guard !bytes.isEmpty else { return .taken }
            // libcurl delivers what it held back for a transfer that has been stopped.
            guard outcome == nil else { return .stopped }
            deadlines.activity = driver.now
            if phase != .body {
                guard head.isComplete else {
                    stop(.failed(.malformedResponse, HeadReader.bodyInHead))
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
                if let excess { stop(.failed(excess)) }
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
                stop(.failed(excess))
                return .stopped
            }
            kept.append(contentsOf: bytes)
            advance(by: bytes.count)
            return .taken
        }

        /// Which limit the body exceeds, or will exceed by the length that the head declares.
        private func excess(with count: Int) -> RequestError? {
            let size = received + Int64(count)
            if let limit = limits.body, max(size, progress.bytesToReceive ?? 0) > limit {
                return RequestError(.bodyTooLarge, "the body has more than \(limit) bytes")
            }
            guard head.isCoded, let ratio = limits.ratio, let easy else { return nil }
            // libcurl 8.7 and later count a piece after it was decoded. None is longer than this.
            let arrived = easy.received + (256 << 10)
            guard size / ratio > arrived else { return nil }
            return RequestError(.bodyTooLarge, "decoding makes the body more than \(ratio) times as long")
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
                stop(.failed(error))
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
                stop(.failed(error))
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

    /// The functions that libcurl calls on the driver thread.
    enum CurlCallbacks {
        // The context is the easy handle. It lives longer than libcurl uses it.
        static let all = rocurl_callbacks(
            header: { bytes, size, count, context in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return with(context) { $0.receive(line: line) } == true ? size * count : 0
            },
            body: { bytes, size, count, context in
                let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return switch with(context, { $0.receive(content: bytes) }) {
                case .taken?: size * count
                case .paused?: Int(CURL_WRITEFUNC_PAUSE)
                // Any number other than that of the bytes is an error.
                case .stopped?, nil: size * count == 0 ? 1 : 0
                }
            },
            read: { bytes, size, count, context in
                let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                return with(context) { $0.send(into: buffer) } ?? Int(CURL_READFUNC_ABORT)
            },
            seek: { context, offset, origin in
                guard offset == 0, origin == SEEK_SET, with(context, { $0.rewind() }) == true else {
                    return CURL_SEEKFUNC_FAIL
                }
                return CURL_SEEKFUNC_OK
            },
            lookup: { _, _, context in
                with(context) { $0.lookupBegins() } == true ? 0 : 1
            },
            open: { context, _, address in
                // libcurl always passes an address.
                if with(context, { $0.mayOpen(for: address!) }) == false { return CURL_SOCKET_BAD }
                let (family, type) = (address!.pointee.family, address!.pointee.socktype)
                // A child process that another thread starts must not inherit it. libcurl before 8.19 would let it.
                let descriptor = Glibc.socket(
                    family, type | Int32(SOCK_CLOEXEC.rawValue), Int32(address!.pointee.`protocol`))
                let number = errno
                let isTaken = with(context) {
                    $0.takes(descriptor, errorNumber: number, isIPv4: family == AF_INET)
                }
                // A look-up whose transfer has ended ends at its first socket.
                guard isTaken == false else { return descriptor }
                if descriptor >= 0 { Glibc.close(descriptor) }
                return CURL_SOCKET_BAD
            },
            socket: { context, descriptor, _ in
                with(context) { $0.opens(descriptor) } == nil ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK
            },
            send: { context, _, _, _, localPort in
                let isSent = with(context) { $0.requestBegins(localPort: localPort) }
                return isSent == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            },
            close: { sockets, descriptor in
                // The driver keeps its table longer than the multi handle.
                Unmanaged<ConnectionTable>.fromOpaque(sockets!).takeUnretainedValue().noteClosed(descriptor)
                return Glibc.close(descriptor)
            })

        /// Calls a function with the transfer that a handle serves. Returns `nil` if the transfer has left the handle.
        private static func with<Result>(
            _ context: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Result
        ) -> Result? {
            guard let transfer = Unmanaged<EasyHandle>.fromOpaque(context!).takeUnretainedValue().transfer else {
                return nil
            }
            transfer.driver.steps &+= 1
            return body(transfer)
        }
    }

    /// The directions in which a transfer is paused, in the form that `curl_easy_pause` expects.
    struct PausedDirections: OptionSet {
        let rawValue: Int32

        /// The consumer of the response has enough for now.
        static let receiving = Self(rawValue: CURLPAUSE_RECV)
        /// The source of the request's body has nothing for now.
        static let sending = Self(rawValue: CURLPAUSE_SEND)
    }
#endif
