#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// How a transfer gets its connection and is sent, on the driver thread: what libcurl calls.
    extension CurlTransfer {
        /// A look-up begins. Returning `false` ends the transfer.
        func lookupBegins() -> Bool {
            guard maySendAgain(), mayMakeConnection() else { return false }
            if hasName || driver.settings.mayUseProxy { driver.beginLookup(self) }
            place = .lookingUp(until: connectDeadline())
            wait?.end()
            return true
        }

        /// Whether a socket may be made for a connection to an address. The look-up is done.
        func mayOpen(for address: UnsafePointer<curl_sockaddr>) -> Bool {
            guard maySendAgain(), mayMakeConnection(), mayConnect(to: address) else { return false }
            wait?.end()
            driver.endLookup(self)
            place = .connecting(until: connectDeadline())
            return true
        }

        /// A socket was made, or could not be made. Returns whether the transfer may have it.
        func takes(_ descriptor: Int32, errorNumber: Int32, isIPv4: Bool) -> Bool {
            connection.isIPv4 = isIPv4
            let isAllowed = descriptor >= 0 && driver.allows(descriptor, for: self)
            connection.lacksDescriptor = !isAllowed && (descriptor >= 0 || DescriptorShare.isShortage(errorNumber))
            if isAllowed { driver.sockets.noteOpened(descriptor) }
            return isAllowed
        }

        /// A socket is about to be connected.
        func opens(_ descriptor: Int32) {
            if connection.hasSocket, !lastAddressIsUnreachable { connection.triedReachable = true }
            connection.opens(descriptor)
        }

        /// Whether an address failed and there was no route to the last one.
        var lastAddressIsUnreachable: Bool {
            connection.hasSocket && easy?.systemError == Int(ENETUNREACH)
        }

        /// Until when a connection must be ready. The limit runs from the first look-up or socket, for each connection of a
        /// request that is sent again.
        func connectDeadline() -> Int64? {
            guard place.connectDeadline == nil, let limit = limits.connect else { return place.connectDeadline }
            driver.sweep(by: driver.now.adding(limit))
            return driver.now.adding(limit)
        }

        /// The connection is ready and the request is sent next. Returning `false` ends the transfer, or makes it
        /// connect again.
        func requestBegins(localPort: Int32) -> Bool {
            guard maySendAgain(), takeConnection(localPort: localPort) else { return false }
            sends += 1
            sent = CurlLibrary.now
            firstByte = 0
            if sends == 1 {
                // If the connection proves dead, the request is sent one last time. So it must not use another old
                // connection. (Where one connection takes many requests, each would make its own.)
                connection.isShared = mayUseHTTP2 && queue?.speaksHTTP2 != false
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
            guard let queue else { return false }
            if connection.isReused {
                switch driver.sockets.reuse(localPort: localPort, for: queue, isPlain: !isSecure && !mayUseHTTP2) {
                case .ended:
                    easy?.keepConnection(false)
                    connection.loss = .beforeUse
                    return false
                case .usable(let known):
                    connection.known = known
                }
            } else {
                connection.known = driver.sockets.register(connection.newSockets, localPort: localPort, for: queue)
                connection.newSockets = []
            }
            if mayUseHTTP2 { connection.known?.limitSilence(to: limits.idle) }
            return true
        }

        private static let maximumSends = 5

        /// Whether it was sent so often that it may be sent only once more. Then it goes over a connection of its own.
        var isLastSend: Bool { sends == Self.maximumSends - 1 }

        /// Whether libcurl may send the request again.
        ///
        /// libcurl repeats any request, even an unsafe one, if the connection that it reused ends without an answer. For
        /// safe methods that is right, once. Other requests may have been processed. A request that was answered with
        /// 417 (Expectation Failed) was not processed, and is sent again without an expectation that libcurl added. If
        /// the caller added the expectation, libcurl would send it again. So the 417 stands, and libcurl ignores its
        /// body.
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
    }

    /// Which addresses a transfer may connect to.
    extension CurlTransfer {
        /// Whether the transport's policy allows a connection to an address. Notes one that it does not allow.
        func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
            let policy = driver.configuration.addresses
            guard !policy.allowsAll else { return true }
            let known = IPAddress(address)
            if let known, policy.allows(known) { return true }
            connection.refusedAddress = known?.description ?? "a socket of this machine"
            return false
        }
    }

    extension IPAddress {
        /// The address of a socket address; `nil` if it is of another family.
        fileprivate init?(_ address: UnsafePointer<curl_sockaddr>) {
            // Behind `addr`, libcurl has room for the longest address.
            guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
            let bytes = UnsafeRawBufferPointer(
                start: UnsafeRawPointer(address) + start, count: Int(address.pointee.addrlen))
            switch address.pointee.family {
            case AF_INET: self.init(bytes.dropFirst(MemoryLayout.offset(of: \sockaddr_in.sin_addr)!).prefix(4))
            case AF_INET6: self.init(bytes.dropFirst(MemoryLayout.offset(of: \sockaddr_in6.sin6_addr)!).prefix(16))
            default: return nil
            }
        }
    }
#endif
