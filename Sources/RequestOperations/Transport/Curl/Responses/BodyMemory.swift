#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

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
