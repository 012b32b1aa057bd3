#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Look-ups of names, on the thread of a driver.
    extension CurlDriver {
        /// A look-up whose transfer has ended. libcurl could remove the handle only by waiting, and others need the
        /// name.
        struct Orphan {
            let easy: EasyHandle
            let transfer: CurlTransfer
            /// When the handle is removed, even if that means waiting.
            let deadline: Int64
        }

        /// How long a look-up that nobody waits for may go on.
        private static let patience: Int64 = 30_000_000_000

        func admit(_ transfer: CurlTransfer) {
            transfer.beginsToConnect()
            if desk.admits(transfer, at: now) {
                if transfer.stand.isTrying || mayWaitForConnection(transfer) { tried.append(transfer) }
                liftConnectLimit(of: transfer)
                begin(transfer)
            } else {
                transfer.place = .held
                sweep(by: desk.nextAging)
            }
        }

        func admit(_ transfers: [CurlTransfer]) {
            for transfer in transfers {
                transfer.place = .nowhere
                admit(transfer)
            }
            sweep(by: desk.nextAging)
        }

        /// Called by libcurl.
        func lookupBegins(for transfer: CurlTransfer) {
            desk.lookupBegins(for: transfer, at: now)
        }

        /// Begins the transfers that waited for a look-up. libcurl calls this and accepts no new transfers meanwhile,
        /// so they begin in the next turn.
        ///
        /// - Parameter connects: Whether the transfer makes a connection.
        func lookupEnded(for transfer: CurlTransfer, connects: Bool) {
            guard transfer.stand != .none else { return }
            letGo(desk.lookupEnded(for: transfer, connects: connects, at: now))
        }

        /// Makes transfers that waited begin in the next turn.
        private func letGo(_ transfers: [CurlTransfer]) {
            for transfer in transfers {
                transfer.place = .nowhere
                call(for: transfer)
            }
            sweep(by: desk.nextAging)
        }

        /// A transfer has ended that may have left its connection to others.
        func connectionComesFree(after transfer: CurlTransfer) {
            // If the response asked for the end of its connection, libcurl has closed that.
            guard !desk.isIdle, transfer.isWhole, transfer.socket != nil else { return }
            letGo(desk.connectionComesFree(after: transfer, at: now))
        }

        /// Some look-ups have gone on for a while. Begins the transfers for which there is room now.
        func ageLookups() {
            admit(desk.age(at: now))
        }

        /// Lets a look-up go on alone, since its transfer ends. Transfers that are held for its name keep waiting for
        /// it.
        func orphan(_ transfer: CurlTransfer, _ easy: EasyHandle) {
            easy.transfer = nil
            easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            transfer.easy = nil
            letGo(desk.abandons(transfer, at: now))
            let deadline = now.adding(Self.patience)
            orphans[Unmanaged.passUnretained(easy).toOpaque()] = Orphan(
                easy: easy, transfer: transfer, deadline: deadline)
            sweep(by: deadline)
        }

        /// An orphan has ended. If the name is known, that happens at its first socket, which it does not get.
        func ended(_ orphan: Orphan, _ code: CURLcode) {
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_OPERATION_TIMEDOUT:
                lookupFailed(for: orphan.transfer, code, orphan.easy.message)
            default:
                admit(desk.lookupEnded(for: orphan.transfer, connects: true, at: now))
            }
        }

        func checkOrphans() {
            for (context, orphan) in orphans {
                guard orphan.deadline <= now else {
                    sweep(by: orphan.deadline)
                    continue
                }
                orphans[context] = nil
                curl_multi_remove_handle(multi, orphan.easy.pointer)
                ended(orphan, CURLE_OPERATION_TIMEDOUT)
            }
        }

        /// A transfer ended before its name was known. The next of the transfers that it held tries. libcurl does not
        /// tell whether the name does not exist or the resolver was only busy.
        func lookupFailed(for transfer: CurlTransfer, _ code: CURLcode?, _ message: String?) {
            guard transfer.stand != .none else { return }
            // They begin in the next turn, since the next one may fail as well and there may be thousands of them.
            letGo(desk.ended(transfer, isFailure: isFailedLookup(code, message), at: now))
        }

        /// Whether a look-up was made and failed.
        private func isFailedLookup(_ code: CURLcode?, _ message: String?) -> Bool {
            if let message, CurlLibrary.lacksThread(message) { return false }
            return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY
        }
    }
#endif
