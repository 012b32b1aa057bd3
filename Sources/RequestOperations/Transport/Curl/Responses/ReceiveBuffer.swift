#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Bytes of a body as they arrive, in memory that becomes the storage of a `Data` without a copy.
    ///
    /// Blocks of 1 KiB to 1 MiB come from a pool, and go back to it when that `Data` is freed. The reason is that fresh
    /// pages of the system cost more than the transfer of the bytes in them. Memory that one thread allocates and
    /// another frees is also expensive.
    // Unchecked: only one side uses it at a time, which `TransferMachine` guarantees.
    final class ReceiveBuffer: @unchecked Sendable {
        private var storage: UnsafeMutableRawPointer?
        private var capacity = 0
        private(set) var count = 0

        /// - Parameter expected: How many bytes will come, as far as that is known. At most 1 MiB is reserved for them,
        ///   since the number comes from the server.
        init(expecting expected: Int) {
            guard expected > 0 else { return }
            grow(to: min(expected, BodyMemory.largestPooled))
        }

        deinit {
            if let storage { BodyMemory.give(storage) }
        }

        var isEmpty: Bool { count == 0 }

        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

        func append(_ bytes: UnsafeRawPointer, count added: Int) {
            if count + added > capacity { grow(to: max(count + added, 2 * capacity)) }
            // `grow` has made the storage.
            (storage! + count).copyMemory(from: bytes, byteCount: added)
            count += added
        }

        /// Forgets the bytes and gives their memory back.
        func removeAll() {
            if let storage { BodyMemory.give(storage) }
            storage = nil
            capacity = 0
            count = 0
        }

        /// The bytes as a `Data` that takes over their memory. The buffer is empty afterwards.
        func takeData() -> Data {
            guard let storage, count > 0 else { return Data() }
            let size = count
            self.storage = nil
            count = 0
            if capacity > BodyMemory.smallestPooled, size < capacity / 4 {
                // A small body must not keep a large block alive for as long as its `Data` lives.
                let copy = Data(bytes: storage, count: size)
                BodyMemory.give(storage)
                capacity = 0
                return copy
            }
            capacity = 0
            return Data(
                bytesNoCopy: storage, count: size, deallocator: .custom { pointer, _ in BodyMemory.give(pointer) })
        }

        private func grow(to minimum: Int) {
            if let storage, capacity > BodyMemory.largestPooled {
                // The system moves large blocks without copying them.
                self.storage = BodyMemory.resize(storage, to: minimum)
                capacity = minimum
                return
            }
            let (block, size) = BodyMemory.take(atLeast: minimum)
            if let storage {
                block.copyMemory(from: storage, byteCount: count)
                BodyMemory.give(storage)
            }
            storage = block
            capacity = size
        }
    }
#endif
