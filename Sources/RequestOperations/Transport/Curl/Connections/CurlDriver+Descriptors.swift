#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What a driver does when the process has no descriptor for a connection: the transfer waits instead of failing.
    extension CurlDriver {
        /// There is no descriptor for a transfer; called by libcurl.
        func lacksDescriptor(_ transfer: CurlTransfer) {
            guard transfer.place != .lackingDescriptor else { return }
            move(transfer, to: .lackingDescriptor)
            lacking.append(transfer)
        }

        /// Why a transfer ends for which there never was a descriptor.
        static var noDescriptor: CurlTransfer.Cause { .shortage("there is no file descriptor for the connection") }

        /// Takes back from libcurl the transfers for which it tries nothing else.
        func holdLacking(_ multi: UnsafeMutableRawPointer) {
            guard !lacking.isEmpty else { return }
            for transfer in lacking {
                // A transfer with a socket may still connect with it.
                guard transfer.place == .lackingDescriptor, !transfer.connection.hasSocket,
                    transfer.mayBeGivenAgain,
                    let easy = transfer.easy
                else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                hold(transfer, easy, multi)
            }
            lacking.removeAll(keepingCapacity: true)
        }

        /// Makes a transfer wait that libcurl ended for lack of a descriptor or a thread. Returns whether it waits.
        func waitsForDescriptor(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard code != CURLE_OK, transfer.mayBeGivenAgain, let multi else { return false }
            let lacksThread = easy.message.map(CurlLibrary.lacksThread) ?? false
            guard lacksThread || transfer.place == .lackingDescriptor && code == CURLE_COULDNT_CONNECT else {
                return false
            }
            hold(transfer, easy, multi)
            return true
        }

        private func hold(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            // With a limit, libcurl closes idle connections for new ones, and makes requests wait for their turn.
            let isFirst = descriptorBoundEnd == .max
            boundConnections(multi)
            move(transfer, to: .awaitingDescriptor)
            transfer.forgetConnecting()
            easy.forgetMessage()
            easy.liftConnectLimit()
            if hasNoConnection(beside: transfer) {
                // No descriptor of ours will become free, so this is time to connect.
                transfer.startConnectLimit()
            } else {
                transfer.deadlines.connect = nil
                noteWait(transfer)
            }
            descriptorLine.append(transfer, at: isFirst ? nil : now)
        }

        /// Limits libcurl to the current number of connections for a moment.
        private func boundConnections(_ multi: UnsafeMutableRawPointer) {
            descriptors.isLacking(for: self, at: now)
            let bound = max(1, min(sockets.count, configuration.maximumConnections ?? .max))
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, bound)
            descriptorBoundEnd = now.adding(Self.boundLength)
        }

        /// Whether no connection exists or is being made, except that of a transfer.
        fileprivate func hasNoConnection(beside transfer: CurlTransfer) -> Bool {
            sockets.count == 0 && !active.contains { $0 !== transfer && $0.connection.hasSocket }
        }

        /// How many files the transfers with a connection may still open. A transfer that has opened its file counts as
        /// well.
        fileprivate var filesToOpen: Int {
            active.count { $0.usesFile && ($0.connection.hasSocket || $0.sends > 0) }
        }

        private static let boundLength: Int64 = 100_000_000

        /// Gives libcurl the transfers whose time to try again has come.
        func retryLacking(_ multi: UnsafeMutableRawPointer) {
            if descriptorBoundEnd <= now {
                descriptorBoundEnd = .max
                _ = rocurl_multi_set_long(
                    multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.maximumConnections ?? 0)
            }
            guard descriptorLine.deadline <= now else { return }
            for transfer in descriptorLine.take(at: now) {
                if let easy = transfer.easy { giveAgain(transfer, easy, multi) }
            }
        }

        /// Closes idle connections if another driver lacks descriptors. If no request runs, it closes all of them.
        /// Otherwise it closes one with each request that ends.
        func giveUpIdle() {
            let isWanted = descriptors.isWantedByOthers(than: self, at: now)
            guard isWanted || givesUpIdle else { return }
            if isWanted, !hasTransfers, lastingLookups.isEmpty, sockets.count > 0, inbox.withLock({ $0.isEmpty }) {
                renewMulti()
            }
            guard isWanted != givesUpIdle, let multi else { return }
            givesUpIdle = isWanted
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, isWanted ? 1 : configuration.keptConnections)
        }
    }

    extension CurlTransfer {
        /// A socket was made for the transfer, or could not be made. Returns whether the transfer may have it. If the
        /// process lacks descriptors, the transfer waits until there are some to spare.
        func takes(_ descriptor: Int32, errorNumber: Int32, isIPv4: Bool) -> Bool {
            connection.isIPv4 = isIPv4
            let isShort =
                descriptor < 0
                ? DescriptorPool.isShortage(errorNumber)
                : !driver.descriptors.allows(
                    descriptor, isFirst: driver.hasNoConnection(beside: self),
                    filesToOpen: usesFile ? driver.filesToOpen : 0)
            if isShort { driver.lacksDescriptor(self) }
            return descriptor >= 0 && !isShort
        }

        /// Whether the transfer can be given to libcurl once more, as if it had not been before.
        var mayBeGivenAgain: Bool {
            isActive && outcome == nil && head.isUntouched && progress.bytesSent == 0
        }

        /// libcurl no longer has the transfer, and it has no socket.
        fileprivate func forgetConnecting() {
            connection.forgetSockets()
            phase = .connect
            deadlines.activity = driver.now
        }
    }
#endif
