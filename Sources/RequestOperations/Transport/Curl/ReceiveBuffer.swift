#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

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

    /// The memory of bodies: small and very large blocks come directly from `malloc`, medium ones from a pool by powers
    /// of two.
    enum BodyMemory {
        static let smallestPooled = 1 << 10
        static let largestPooled = 1 << 20
        /// How many bytes the pool keeps at most while nobody uses them.
        private static let limit = 8 << 20

        // Unchecked: free blocks belong only to the pool, under its lock.
        private struct Blocks: @unchecked Sendable {
            /// Free blocks by the power of two of their size, from `smallestPooled` on.
            var free = [[UnsafeMutableRawPointer]](repeating: [], count: 11)
            var kept = 0
        }

        private static let blocks = Locked(Blocks())

        static func take(atLeast size: Int) -> (UnsafeMutableRawPointer, capacity: Int) {
            guard size > smallestPooled / 2, size <= largestPooled else {
                return (allocate(size), size)
            }
            let (index, capacity) = sizeClass(roundingUp: size)
            let pooled = blocks.withLock { blocks in
                let block = blocks.free[index].popLast()
                if block != nil { blocks.kept -= capacity }
                return block
            }
            return (pooled ?? allocate(capacity), capacity)
        }

        /// Takes a block back, or frees it if the pool has enough.
        static func give(_ block: UnsafeMutableRawPointer) {
            // `malloc` gives the size of the class, and at most a few bytes more.
            let size = rocurl_block_size(block)
            guard size >= smallestPooled, size < largestPooled + smallestPooled else { return free(block) }
            let (index, capacity) = sizeClass(roundingDown: size)
            guard size < capacity + smallestPooled / 2 else { return free(block) }
            let isKept = blocks.withLock { blocks in
                guard blocks.kept + capacity <= limit else { return false }
                blocks.free[index].append(block)
                blocks.kept += capacity
                return true
            }
            if !isKept { free(block) }
        }

        /// Makes a block larger. The block must be too large for the pool.
        static func resize(_ block: UnsafeMutableRawPointer, to size: Int) -> UnsafeMutableRawPointer {
            guard let block = realloc(block, size) else {
                // As everywhere in Swift, a lack of memory ends the process.
                preconditionFailure("There is no memory for \(size) bytes of a body.")
            }
            return block
        }

        private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
            guard let block = malloc(size) else {
                // As everywhere in Swift, a lack of memory ends the process.
                preconditionFailure("There is no memory for \(size) bytes of a body.")
            }
            return block
        }

        private static func sizeClass(roundingUp size: Int) -> (index: Int, capacity: Int) {
            var index = 0
            while smallestPooled << index < size { index += 1 }
            return (index, smallestPooled << index)
        }

        private static func sizeClass(roundingDown size: Int) -> (index: Int, capacity: Int) {
            var index = 0
            while index < 10, smallestPooled << (index + 1) <= size { index += 1 }
            return (index, smallestPooled << index)
        }
    }
#endif
