#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What a driver does when the process has no descriptor for a connection: nothing fails, the transfer waits.
    extension CurlDriver {
        /// There is none for a transfer; called by libcurl.
        func lacksDescriptor(_ transfer: CurlTransfer) {
            guard !transfer.lacksDescriptor else { return }
            transfer.lacksDescriptor = true
            lacking.append(transfer)
        }

        /// Takes those from libcurl for which nothing else is being tried.
        func holdLacking(_ multi: UnsafeMutableRawPointer) {
            guard !lacking.isEmpty else { return }
            for transfer in lacking {
                // One with a socket may come to a connection by that; see `waitsForDescriptor`.
                guard transfer.lacksDescriptor, !transfer.hasSocket, transfer.mayWaitForDescriptor,
                    let easy = transfer.easy
                else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                hold(transfer, easy, multi)
            }
            lacking.removeAll(keepingCapacity: true)
        }

        /// Has a transfer wait that libcurl has ended for want of a descriptor or a thread; whether it does.
        func waitsForDescriptor(_ transfer: CurlTransfer, _ easy: EasyHandle, after code: CURLcode) -> Bool {
            guard code != CURLE_OK, transfer.mayWaitForDescriptor, let multi else { return false }
            let lacksThread = easy.message.map(CurlLibrary.lacksThread) ?? false
            guard lacksThread || transfer.lacksDescriptor && code == CURLE_COULDNT_CONNECT else { return false }
            // Another looks the name up, which fails too if there is still no thread.
            if lacksThread { lookupFailed(for: transfer, nil, nil) }
            hold(transfer, easy, multi)
            return true
        }

        private func hold(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            // With a bound libcurl closes idle connections for new ones, and has requests wait for their turn.
            let isFirst = descriptorBoundEnd == .max
            boundConnections(multi)
            transfer.leavesConnecting()
            // It makes none while it waits, and nobody is to wait for it.
            makesRoom(transfer)
            unanswered.ends(transfer)
            easy.forgetMessage()
            easy.liftConnectLimit()
            transfer.beginsWait()
            descriptorLine.append(transfer, at: isFirst ? nil : now)
        }

        /// Has libcurl keep to the number of connections that there are, for a moment.
        private func boundConnections(_ multi: UnsafeMutableRawPointer) {
            descriptors.isLacking(for: self, at: now)
            connectionLine.triesSingleLine = true
            if !boundsConnections {
                wasShortOfDescriptors = true
                // libcurl may have these wait from now on, and nobody has taken note of that.
                for transfer in active where transfer.waitsForConnection && !transfer.isInLine {
                    liftConnectLimit(of: transfer)
                    tried.append(transfer)
                }
            }
            let bound = max(1, min(sockets.connectionCount, configuration.maximumConnections ?? .max))
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, bound)
            descriptorBoundEnd = now.adding(Self.boundLength)
        }

        /// Whether no connection stands or is being made, but for that of a transfer.
        fileprivate func hasNoConnection(beside transfer: CurlTransfer) -> Bool {
            !active.contains { $0 !== transfer && $0.hasSocket } && sockets.connectionCount == 0
        }

        /// How many files the transfers may still open that have a connection. One that has its file counts as well.
        fileprivate var filesToOpen: Int {
            active.count { $0.usesFile && ($0.hasSocket || $0.sends > 0) }
        }

        private static let boundLength: Int64 = 100_000_000

        /// Gives libcurl those that are to be tried again.
        func retryLacking(_ multi: UnsafeMutableRawPointer) {
            if descriptorBoundEnd <= now {
                descriptorBoundEnd = .max
                _ = rocurl_multi_set_long(
                    multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.maximumConnections ?? 0)
            }
            guard descriptorLine.deadline <= now else { return }
            for transfer in descriptorLine.take(at: now) {
                guard let easy = transfer.easy else { continue }
                transfer.isTurnedBack = false
                give(transfer, easy, multi)
                tried.append(transfer)
            }
        }

        /// Closes idle connections if another driver has no descriptor: all of them if no request runs, otherwise one with each
        /// that ends.
        func giveUpIdle() {
            let isWanted = descriptors.isWantedByOthers(than: self, at: now)
            guard isWanted || givesUpIdle else { return }
            if isWanted, !hasTransfers, orphans.isEmpty, sockets.connectionCount > 0, inbox.withLock({ $0.isEmpty }) {
                renewMulti()
            }
            guard isWanted != givesUpIdle, let multi else { return }
            givesUpIdle = isWanted
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, isWanted ? 1 : configuration.keptConnections)
        }
    }

    extension CurlTransfer {
        /// A socket was made for the transfer, or could not be made; whether it may have it. Without one it waits until the
        /// process has descriptors to spare, if that is what is missing.
        func takes(_ descriptor: Int32, errorNumber: Int32, isIPv4: Bool) -> Bool {
            self.isIPv4 = isIPv4
            let isShort =
                descriptor < 0
                ? DescriptorPool.isShortage(errorNumber)
                : !driver.descriptors.allows(
                    descriptor, isFirst: driver.hasNoConnection(beside: self),
                    filesToOpen: usesFile ? driver.filesToOpen : 0)
            if isShort {
                // The look-up is done.
                isLookingUp = false
                driver.lookupEnded(for: self, connects: true)
                driver.lacksDescriptor(self)
            }
            return descriptor >= 0 && !isShort
        }

        /// It begins to wait for a connection of others.
        func beginsWait() {
            wait?.begin()
        }

        /// It waits no longer: a connection is made for it, or it has one, or it has ended.
        func endsWait() {
            wait?.end()
        }

        /// Whether it can be given to libcurl once more, as if it had not been.
        fileprivate var mayWaitForDescriptor: Bool {
            isActive && outcome == nil && head.isUntouched && progress.bytesSent == 0 && easy?.cannotBeginAnew != true
        }

        /// It is not in libcurl's hands any more, and has no socket.
        fileprivate func leavesConnecting() {
            lacksDescriptor = false
            hasSocket = false
            onlySocket = nil
            isLookingUp = false
            isTurnedBack = true
            phase = .connect
            deadlines.connect = nil
            deadlines.activity = driver.now
        }
    }
#endif
