#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// How transfers wait for connections, on the thread of a driver.
    extension CurlDriver {
        /// Whether libcurl may make a transfer wait for another transfer's connection. That connection may be one of a
        /// limited number, or may turn out to take several requests at a time.
        func mayWaitForConnection(_ transfer: CurlTransfer) -> Bool {
            boundsConnections || transfer.mayShareConnection
        }

        /// Whether the number of connections is limited, by the configuration or because descriptors ran out.
        var boundsConnections: Bool { configuration.boundsConnections || wasShortOfDescriptors }

        /// Lets a transfer wait without a connect limit if the number of connections is limited. Its time starts with a
        /// look-up or a socket.
        func liftConnectLimit(of transfer: CurlTransfer) {
            if boundsConnections { transfer.deadlines.connect = nil }
        }

        /// libcurl has had its turn. Transfers given to it that did nothing are waiting for a connection.
        func noticeWaiting() {
            for transfer in retried where !transfer.waitsForConnection {
                // Where one could go, the next one may go too.
                connectionLine.noteRoom(at: transfer)
            }
            retried.removeAll(keepingCapacity: true)
            guard !tried.isEmpty else { return }
            let waiting = tried.filter { $0.waitsForConnection || $0.isTurnedBack }
            tried.removeAll(keepingCapacity: true)
            var firstConnections: [Origin: Bool] = [:]
            for transfer in waiting {
                if !transfer.isTurnedBack, mayWaitForConnection(transfer) {
                    connectionLine.append(transfer)
                    transfer.easy?.liftConnectLimit()
                    // While others make the first connection, this transfer's time also counts as time to connect.
                    if transfer.wait != nil, !isMakingFirstConnection(to: transfer.origin, &firstConnections) {
                        transfer.beginsWait()
                    }
                }
                // A transfer makes no connection while it waits for one.
                if transfer.makesConnection { newConnections.makesRoom(transfer) }
            }
        }

        /// Whether connections to an origin are being made and none of them is ready yet.
        private func isMakingFirstConnection(to origin: Origin, _ known: inout [Origin: Bool]) -> Bool {
            if let isMaking = known[origin] { return isMaking }
            let isMaking =
                !hasConnection(to: origin)
                && active.contains { $0.origin == origin && ($0.hasSocket || $0.isLookingUp) }
            known[origin] = isMaking
            return isMaking
        }

        /// Whether a transfer uses a connection to an origin.
        func hasConnection(to origin: Origin) -> Bool {
            active.contains { $0.sends > 0 && $0.origin == origin }
        }

        /// Handles transfers that found no connection and must not make one. They now make one, or wait for another
        /// transfer's. (libcurl would try all addresses of a host before it ends them, one now and one later.)
        func connectTurnedBack(_ multi: UnsafeMutableRawPointer) {
            guard !turnedBack.isEmpty else { return }
            for transfer in turnedBack {
                guard transfer.isActive, transfer.outcome == nil, let easy = transfer.easy else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                liftConnectLimit(of: transfer)
                connectInTurn(transfer, easy, multi)
            }
            turnedBack.removeAll(keepingCapacity: true)
        }

        /// Makes a transfer that libcurl does not have connect, or wait for the connection that another transfer makes.
        func connectInTurn(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            guard !easy.cannotBeginAnew else { return end(transfer, .stopped(.replayRefused)) }
            if newConnections.isMaking(to: transfer) {
                newConnections.holdBack(transfer)
            } else {
                connect(transfer, easy, multi)
            }
        }

        private func connect(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            // libcurl would try the others as soon as any connection has room for a stream.
            for other in connectionLine.takeAll(to: transfer.origin) where other.waitsForConnection {
                if other.mayConnect {
                    connectionLine.append(other)
                } else if let easy = other.easy {
                    curl_multi_remove_handle(multi, easy.pointer)
                    newConnections.holdBack(other)
                }
            }
            transfer.isTurnedBack = false
            transfer.mayConnect = true
            if settings.makesConnectionsApart(isSecure: transfer.isSecure) { easy.askForHTTP2() }
            easy.askForFreshConnection()
            newConnections.begins(transfer)
            give(transfer, easy, multi)
            tried.append(transfer)
        }

        /// A socket is made for a transfer: its first one, or another one after that was lost.
        func opensConnection(_ transfer: CurlTransfer) {
            if settings.makesConnectionsApart(isSecure: transfer.isSecure) { newConnections.begins(transfer) }
            if settings.hidesConnections(isSecure: transfer.isSecure) {
                transfer.hasNewSocket = true
                unanswered.goesOn(transfer, at: now)
                // Without an answer, the connection would stay and make requests wait for it forever.
                transfer.easy?.keepConnection(false)
            }
        }

        /// A request is sent, over a connection that was made for it or over another transfer's.
        func sends(_ transfer: CurlTransfer) {
            if transfer.hasSocket, transfer.wait != nil {
                // From now on, the others wait for a connection to become free.
                for other in connectionLine.waiting(for: transfer.origin) { other.beginsWait() }
            }
            if CurlLibrary.leavesWaiting, transfer.hasSocket, maySpeakHTTP2(transfer) {
                connectionLine.noteConnection(for: transfer, all: boundsConnections)
            }
            guard settings.hidesConnections(isSecure: transfer.isSecure) else { return }
            unanswered.endsTry(transfer)
            if transfer.hasNewSocket {
                unanswered.goesOn(transfer, at: now)
            } else if transfer.awaitsFirstResponse {
                leavesUnanswered(transfer)
            }
            transfer.hasNewSocket = false
            // libcurl would make the requests that it repeats wait as well, and we would not learn of it.
            transfer.easy?.connectRatherThanWait()
        }

        /// Whether the connection of a request may take others at the same time, as far as we know.
        func maySpeakHTTP2(_ transfer: CurlTransfer) -> Bool {
            transfer.mayShareConnection && !http1Origins.contains(originOf: transfer)
        }

        /// A status has come for a transfer.
        func answers(_ transfer: CurlTransfer) {
            if transfer.hasSocket, transfer.mayShareConnection, http1Origins.learn(from: transfer, at: now),
                CurlLibrary.leavesWaiting
            {
                // From now on, they make their own connections. They no longer wait to learn what another connection
                // can do.
                connectionLine.noteConnection(for: transfer, all: true)
            }
            guard transfer.awaitsFirstResponse else { return }
            leavesUnanswered(transfer)
            if transfer.head.takesSeveral { unanswered.takesMore(at: transfer) }
            connectionLine.noteRoom(at: transfer)
        }

        /// A transfer has ended.
        func ends(_ transfer: CurlTransfer) {
            makesRoom(transfer)
            descriptorLine.noteRoom()
            connectionLine.ends(transfer)
            unanswered.ends(transfer)
            if !unanswered.isEmpty, transfer.isWhole, transfer.head.takesSeveral { unanswered.takesMore(at: transfer) }
            if transfer.makesSharedConnection { endThoseWaiting(for: transfer) }
        }

        private func leavesUnanswered(_ transfer: CurlTransfer) {
            unanswered.ends(transfer)
            transfer.easy?.keepConnection(true)
        }

        /// A transfer has its connection, or has ended. Transfers that wait for either may go on.
        func makesRoom(_ transfer: CurlTransfer) {
            connectionLine.noteRoom(at: transfer)
            newConnections.makesRoom(transfer)
        }

        /// Gives waiting transfers that may go now to libcurl again, because libcurl tries a transfer at once when it
        /// is added.
        func retryWaiting(_ multi: UnsafeMutableRawPointer) {
            for transfer in newConnections.takeReleased() {
                guard let easy = transfer.easy else { continue }
                transfer.isTurnedBack = false
                give(transfer, easy, multi)
                tried.append(transfer)
            }
            tryConnected(multi)
            if now >= nextRotation { connectionLine.rotate() }
            for transfer in connectionLine.takeCandidates() {
                let passesBy = unanswered.tries(transfer) || unanswered.areOverdue(for: transfer, at: now)
                // A transfer that is given again loses its place in libcurl's own line. We avoid that where libcurl's
                // order is right.
                guard passesBy || connectionLine.hasSeveralOrigins || connectionLine.triesSingleLine else { continue }
                giveAnew(transfer, multi, connects: passesBy)
                retried.append(transfer)
            }
            planRotation()
        }

        /// Gives libcurl again the first transfer that waits for each connection that is now ready, since it may turn
        /// out not to take several requests. If that transfer goes, libcurl tries the next one by itself. If it may not
        /// go because of the limit on connections, it would lose its place in libcurl's own line. There, all are given
        /// again, in their order.
        private func tryConnected(_ multi: UnsafeMutableRawPointer) {
            for transfer in connectionLine.takeConnected() {
                giveAnew(transfer, multi, connects: false)
                retried.append(transfer)
            }
        }

        /// - Parameter connects: Whether the transfer makes a connection rather than wait to learn what others'
        ///   connections can do.
        private func giveAnew(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer, connects: Bool) {
            // Every transfer in the line has a handle.
            guard let easy = transfer.easy else { return }
            curl_multi_remove_handle(multi, easy.pointer)
            if connects { easy.connectRatherThanWait() }
            give(transfer, easy, multi)
        }

        private func planRotation() {
            guard connectionLine.isTried else {
                nextRotation = .max
                return
            }
            if now >= nextRotation || nextRotation == .max { nextRotation = now.adding(Self.rotationInterval) }
        }

        private static let rotationInterval: Int64 = 100_000_000
    }

    extension CurlTransfer {
        /// Whether the transfer makes a connection that others wait for.
        fileprivate var makesSharedConnection: Bool {
            phase == .connect && (hasSocket || isLookingUp) && mayShareConnection
        }

        /// Whether libcurl has the transfer and has done nothing for it yet: no look-up and nothing with a connection.
        var waitsForConnection: Bool {
            isActive && outcome == nil && phase == .connect && !hasSocket && !isLookingUp && !isTurnedBack
                && !lacksDescriptor
        }
    }
#endif
