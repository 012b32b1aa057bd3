#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Waits for connections, on the thread of a driver.
    extension CurlDriver {
        /// Whether libcurl may make a transfer wait for a connection of others: for one of a bounded number, or for one that
        /// may turn out to take several requests at a time.
        func mayWaitForConnection(_ transfer: CurlTransfer) -> Bool {
            configuration.boundsConnections || settings.mayMultiplex(isSecure: transfer.isSecure)
        }

        /// libcurl has had its turn: of the transfers given to it, those that did nothing wait for a connection.
        func noticeWaiting() {
            for transfer in retried where !transfer.waitsForConnection {
                // Where one could go, the next may.
                connectionLine.hasRoom(besides: transfer)
            }
            retried.removeAll(keepingCapacity: true)
            guard !tried.isEmpty else { return }
            let waiting = tried.filter(\.waitsForConnection)
            tried.removeAll(keepingCapacity: true)
            for transfer in waiting {
                if mayWaitForConnection(transfer) { connectionLine.append(transfer) }
                admit(desk.waits(transfer))
            }
        }

        /// There was no connection for a transfer that may make none: it makes one now, unless another does for it.
        func giveBack(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
            guard let easy = transfer.easy else { return }
            transfer.isTurnedBack = false
            easy.removeMessage()
            if connecting[transfer.origin]?.phase != .connect {
                connecting[transfer.origin] = transfer
                transfer.mayConnect = true
                easy.askForConnectionOfHTTP2()
            }
            if give(transfer, easy, multi) { tried.append(transfer) }
        }

        /// Gives libcurl those anew that may go now: it tries what is given to it at once.
        func retryWaiting(_ multi: UnsafeMutableRawPointer) {
            for transfer in connectionLine.takeFirst() {
                guard let easy = transfer.easy else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                if give(transfer, easy, multi) { retried.append(transfer) }
            }
        }
    }

    extension CurlTransfer {
        /// Whether libcurl has it and has done nothing for it yet, neither a look-up nor anything with a connection.
        var waitsForConnection: Bool {
            guard case .active = place, outcome == nil else { return false }
            return phase == .connect && !hasSocket && !isLookingUp && !isTurnedBack
        }
    }
#endif
