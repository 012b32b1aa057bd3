#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting

    /// A transport whose first transfers break after some bytes.
    struct BreakingTransport: Transport {
        private let base: any Transport
        private let breaks: Locked<[Int]>

        /// - Parameters:
        ///   - base: What sends the requests.
        ///   - breaks: How many bytes of the first responses arrive. The others are whole.
        init(_ base: any Transport, breaksAfter breaks: [Int]) {
            self.base = base
            self.breaks = Locked(breaks)
        }

        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            let limit = breaks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let limit, case .stream(let consumer) = task.destination else {
                return try await base.perform(task, onHead: onHead)
            }
            let left = Locked(limit)
            var task = task
            task.destination = .stream { piece in
                let (count, isLast) = left.withLock { left in
                    let count = min(left, piece.count)
                    left -= count
                    return (count, left == 0)
                }
                try await consumer(piece.prefix(count))
                if isLast { throw RequestError(.connectionLost, stage: .transfer) }
            }
            return try await base.perform(task, onHead: onHead)
        }
    }
#endif
