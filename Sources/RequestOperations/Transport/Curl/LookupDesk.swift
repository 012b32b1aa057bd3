#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Coalesces look-ups: of the transfers to one name, one looks it up, and the others are held until the name is known.
    ///
    /// libcurl starts a thread for each look-up, also for a hundred of the same name at the same time.
    struct LookupDesk {
        private enum Entry {
            /// A transfer looks the name up, or is about to; the others wait for it.
            case running(leader: ObjectIdentifier, held: [CurlTransfer])
            /// libcurl remembers the name until then.
            case known(until: Int64)
        }

        /// How long a name counts as known: a little less than the 60 s for which libcurl keeps it.
        private static let memory: Int64 = 50_000_000_000
        /// How many names are remembered before old ones are forgotten.
        private static let capacity = 1024

        private var entries: [String: Entry] = [:]

        /// Whether the transfer can begin; otherwise it is held until another of the same name is done.
        mutating func admits(_ transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let name = transfer.lookupName else { return true }
            switch entries[name] {
            case .known(let until) where until > now:
                return true
            case .running(let leader, var held):
                // The list is taken out of the table first, or it would be copied for each transfer.
                entries[name] = nil
                held.append(transfer)
                entries[name] = .running(leader: leader, held: held)
                return false
            case .known, nil:
                if entries.count >= Self.capacity { forget(before: now) }
                entries[name] = .running(leader: ObjectIdentifier(transfer), held: [])
                return true
            }
        }

        /// The name of a transfer is known, or none was needed: those that it held can begin.
        mutating func lookupEnded(for transfer: CurlTransfer, at now: Int64) -> [CurlTransfer] {
            guard let held = takeHeld(by: transfer), let name = transfer.lookupName else { return [] }
            entries[name] = .known(until: now + Self.memory)
            return held
        }

        /// A transfer ended without its name being known: those that it held.
        mutating func lookupFailed(for transfer: CurlTransfer) -> [CurlTransfer] {
            takeHeld(by: transfer) ?? []
        }

        /// Lets go of a held transfer.
        mutating func remove(_ transfer: CurlTransfer) {
            guard let name = transfer.lookupName, case .running(let leader, let held) = entries[name] else { return }
            entries[name] = .running(leader: leader, held: held.filter { $0 !== transfer })
        }

        private mutating func takeHeld(by transfer: CurlTransfer) -> [CurlTransfer]? {
            guard let name = transfer.lookupName, case .running(let leader, let held) = entries[name],
                leader == ObjectIdentifier(transfer)
            else { return nil }
            entries[name] = nil
            return held
        }

        private mutating func forget(before now: Int64) {
            entries = entries.filter { entry in
                if case .known(let until) = entry.value { until > now } else { true }
            }
        }

        /// All held transfers.
        var held: [CurlTransfer] {
            entries.values.flatMap { entry in
                if case .running(_, let held) = entry { held } else { [CurlTransfer]() }
            }
        }
    }
#endif
