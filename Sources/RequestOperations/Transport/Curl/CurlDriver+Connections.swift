#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Waits for connections, on the thread of a driver.
    extension CurlDriver {
        /// Whether libcurl may make a transfer wait for a connection of others: for one of a bounded number, or for one that
        /// may turn out to take several requests at a time.
        func mayWaitForConnection(_ transfer: CurlTransfer) -> Bool {
            boundsConnections || transfer.mayShareConnection
        }

        /// Whether the number of connections is bounded, by the configuration or since there were no descriptors for more.
        var boundsConnections: Bool { configuration.boundsConnections || wasShortOfDescriptors }

        /// Lets a transfer wait as long as it takes where the number of connections is bounded: its time begins with a look-up or
        /// a socket.
        func liftConnectLimit(of transfer: CurlTransfer) {
            if boundsConnections { transfer.deadlines.connect = nil }
        }

        /// libcurl has had its turn: of the transfers given to it, those that did nothing wait for a connection.
        func noticeWaiting() {
            for transfer in retried where !transfer.waitsForConnection {
                // Where one could go, the next may.
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
                    // The time in which others make the first connection is time to connect, for this one as well.
                    if transfer.wait != nil, !isMakingFirstConnection(to: transfer.origin, &firstConnections) {
                        transfer.beginsWait()
                    }
                }
                // It makes no connection while it waits for one.
                if transfer.makesConnection { newConnections.makesRoom(transfer) }
                admit(desk.waits(transfer, at: now))
            }
        }

        /// Whether connections to an origin are being made, and none of them stands yet.
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

        /// There was no connection for some transfers that make none: they do now, or wait for that of another. (libcurl would
        /// try all the addresses of a host before it ends them, one now and one later.)
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

        /// Has a transfer that libcurl does not have make a connection, or wait for that which another makes.
        func connectInTurn(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            guard !easy.cannotBeginAnew else { return end(transfer, .stopped(.replayRefused)) }
            if newConnections.isMaking(to: transfer) {
                newConnections.holdBack(transfer)
            } else {
                connect(transfer, easy, multi)
            }
        }

        private func connect(_ transfer: CurlTransfer, _ easy: EasyHandle, _ multi: UnsafeMutableRawPointer) {
            // libcurl would try the others as soon as there is room for a stream, on whatever connection.
            for other in connectionLine.takeAll(to: transfer.origin) {
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

        /// A socket is made for a transfer: its first, as was known before, or another after that was lost.
        func opensConnection(_ transfer: CurlTransfer) {
            if settings.makesConnectionsApart(isSecure: transfer.isSecure) { newConnections.begins(transfer) }
            if settings.hidesConnections(isSecure: transfer.isSecure) {
                transfer.hasNewSocket = true
                unanswered.goesOn(transfer, at: now)
                // Without an answer it would be there to be waited for, for ever.
                transfer.easy?.keepConnection(false)
            }
        }

        /// A request is sent: over the connection that was made for it, or over one of others.
        func sends(_ transfer: CurlTransfer) {
            if transfer.hasSocket, transfer.wait != nil {
                // From now on they wait for one that comes free.
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
            // Those that libcurl repeats it would have wait as well, and nobody would hear of that.
            transfer.easy?.connectRatherThanWait()
        }

        /// Whether the connection that a request is sent over may take others at the same time, by all that is known.
        func maySpeakHTTP2(_ transfer: CurlTransfer) -> Bool {
            transfer.mayShareConnection && !http1Origins.contains(originOf: transfer)
        }

        /// A status has come for a transfer.
        func answers(_ transfer: CurlTransfer) {
            if transfer.hasSocket, transfer.mayShareConnection, http1Origins.learn(from: transfer, at: now),
                CurlLibrary.leavesWaiting
            {
                // From now on they make connections of their own, and wait for no other to be found out about.
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
            connectionComesFree(after: transfer)
            connectionLine.ends(transfer)
            unanswered.ends(transfer)
            if !unanswered.isEmpty, transfer.isWhole, transfer.head.takesSeveral { unanswered.takesMore(at: transfer) }
            if transfer.makesSharedConnection { endThoseWaiting(for: transfer) }
        }

        private func leavesUnanswered(_ transfer: CurlTransfer) {
            unanswered.ends(transfer)
            transfer.easy?.keepConnection(true)
        }

        /// A transfer has its connection, or has ended: what waits for either may go on.
        func makesRoom(_ transfer: CurlTransfer) {
            connectionLine.noteRoom(at: transfer)
            newConnections.makesRoom(transfer)
        }

        /// Gives libcurl those anew that may go now: it tries what is given to it at once.
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
                // It loses its place in libcurl's own line, where that would be in order.
                guard passesBy || connectionLine.hasSeveralOrigins || connectionLine.triesSingleLine else { continue }
                giveAnew(transfer, multi, connects: passesBy)
                retried.append(transfer)
            }
            planRotation()
        }

        /// Connections stand, which may have turned out not to take several requests: gives libcurl the first anew that waits for each
        /// of them. Where that goes, libcurl tries the next by itself. Where it may not go, for the number of connections, it
        /// would lose its place in libcurl's own line; so all are given there, in their order.
        private func tryConnected(_ multi: UnsafeMutableRawPointer) {
            for transfer in connectionLine.takeConnected() {
                giveAnew(transfer, multi, connects: false)
                retried.append(transfer)
            }
        }

        /// - Parameter connects: Whether it makes a connection rather than wait for what others find out about theirs.
        private func giveAnew(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer, connects: Bool) {
            // Whoever is in the line has one.
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
        /// Whether it makes a connection that others wait for.
        fileprivate var makesSharedConnection: Bool {
            phase == .connect && (hasSocket || isLookingUp) && mayShareConnection
        }

        /// Whether libcurl has it and has done nothing for it yet, neither a look-up nor anything with a connection.
        var waitsForConnection: Bool {
            isActive && outcome == nil && phase == .connect && !hasSocket && !isLookingUp && !isTurnedBack
                && !lacksDescriptor
        }
    }
#endif
