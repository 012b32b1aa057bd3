#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Transfers whose connections found no descriptor in the process, in order, and when to try them again. Times are
    /// those of `CurlLibrary.now`.
    struct DescriptorLine {
        private var line = Line<CurlTransfer>()
        /// How many are tried when the time has come. The number doubles each time until another transfer is held.
        private var portion = 1
        /// How many more may be tried at once, because that many connections have become free.
        private var room = 0
        private var due = Int64.max

        private static let interval: Int64 = 20_000_000
        private static let widestPortion = 64

        /// When some transfers have to be tried.
        var deadline: Int64 { line.isEmpty ? .max : room > 0 ? 0 : due }

        /// Holds a transfer.
        ///
        /// - Parameter now: The current time; the transfer is tried a moment later. `nil` tries it at once.
        mutating func append(_ transfer: CurlTransfer, at now: Int64?) {
            line.append(transfer)
            portion = 1
            due = min(due, now?.adding(Self.interval) ?? 0)
        }

        /// A connection has become free, or has ended.
        mutating func noteRoom() {
            if !line.isEmpty, room < Self.widestPortion { room += 1 }
        }

        /// Takes out the transfers that have to be tried now.
        mutating func take(at now: Int64) -> [CurlTransfer] {
            guard deadline <= now else { return [] }
            var count = room
            room = 0
            if due <= now {
                count += portion
                portion = min(2 * portion, Self.widestPortion)
                due = now.adding(Self.interval)
            }
            var transfers: [CurlTransfer] = []
            while transfers.count < count, let transfer = line.popFirst() {
                if transfer.isActive { transfers.append(transfer) }
            }
            if line.isEmpty { due = .max }
            return transfers
        }
    }
#endif
