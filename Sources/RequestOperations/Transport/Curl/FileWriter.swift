#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Dispatch

    /// Writes a body to a file on a thread of its own, while that of the driver receives what follows.
    ///
    /// What libcurl delivers, 16 KiB and less that begin anywhere, is gathered to pieces of whole pages, which the system writes
    /// in two thirds of the time. Where the disk takes less than the network brings, the driver waits. What does not fill a
    /// piece is written at the end, by the Task of the transfer.
    // Unchecked: used by the thread of the driver until the transfer has ended, by its Task afterwards; what the thread that
    // writes touches as well is behind a lock.
    final class FileWriter: @unchecked Sendable {
        private struct Work: Sendable {
            /// Full, in their order.
            var pieces: [ReceiveBuffer] = []
            /// After an error nothing more is written.
            var failure: (any Error)?
        }

        private let sink: FileSink
        private var gathered = ReceiveBuffer(expecting: 0)
        private let work = Locked(Work())
        /// As long as no piece was full there is none.
        private var queue: DispatchQueue?
        /// For pieces that wait to be written, and the one that is.
        private let room = DispatchSemaphore(value: 2)

        static let pieceSize = 128 << 10

        init(_ sink: FileSink) {
            self.sink = sink
        }

        // MARK: The side of the transfer

        /// Appends bytes. An error may be one of earlier bytes.
        ///
        /// - Throws: A `RequestError` with the code `fileFailed`.
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            var rest = bytes[...]
            while gathered.count + rest.count >= Self.pieceSize {
                let part = rest.prefix(Self.pieceSize - gathered.count)
                rest = rest.dropFirst(part.count)
                gather(part)
                try handOver()
            }
            gather(rest)
        }

        private func gather(_ part: Slice<UnsafeRawBufferPointer>) {
            let part = UnsafeRawBufferPointer(rebasing: part)
            if let start = part.baseAddress, !part.isEmpty { gathered.append(start, count: part.count) }
        }

        private func handOver() throws {
            room.wait()
            let piece = gathered
            gathered = ReceiveBuffer(expecting: Self.pieceSize)
            let failure = work.withLock { work in
                work.pieces.append(piece)
                return work.failure
            }
            let queue = self.queue ?? DispatchQueue(label: "RequestOperations.FileWriter")
            self.queue = queue
            queue.async { self.writePiece() }
            if let failure { throw failure }
        }

        /// Writes what is left, and puts the file in its place.
        ///
        /// - Throws: A `RequestError` with the code `fileFailed`; what was there before is there then.
        func finish() async throws {
            guard let queue else { return try end() }
            try await withUnsafeThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try self.end() }) }
            }
        }

        private func end() throws {
            if let failure = work.withLock({ $0.failure }) { throw failure }
            try sink.write(gathered.bytes)
            try sink.finish()
        }

        /// Removes what has been written, unless the file is finished.
        func discard() {
            sink.discard()
            let unwritten = work.withLock { work in
                defer { work.pieces = [] }
                return work.pieces
            }
            // Their memory goes back outside of the lock.
            withExtendedLifetime(unwritten) {}
        }

        // MARK: The side of the thread that writes

        private func writePiece() {
            defer { room.signal() }
            let piece = work.withLock { work in
                work.failure != nil || work.pieces.isEmpty ? nil : work.pieces.removeFirst()
            }
            guard let piece else { return }
            do { try sink.write(piece.bytes) } catch { work.withLock { $0.failure = error } }
        }
    }
#endif
