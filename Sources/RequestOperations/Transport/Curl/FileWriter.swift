#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Dispatch

    /// Makes the ``FileThread`` write a body to a file, while the driver receives what follows.
    ///
    /// libcurl delivers at most 16 KiB at a time, from any offset. This type gathers that into pieces of whole pages,
    /// which the system writes in two thirds of the time. Two pieces of each file may wait to be written or be written.
    /// With a third one, the driver waits for the disk. If a body ends before a piece is full, the Task of the transfer
    /// writes it.
    // Unchecked: the driver thread uses it until the transfer has ended, and the Task of the transfer uses it after
    // that. What the writing thread also touches is behind a lock.
    final class FileWriter: @unchecked Sendable {
        private struct Work: Sendable {
            /// Full pieces, in order.
            var pieces: [ReceiveBuffer] = []
            /// After an error, nothing more is written.
            var failure: (any Error)?
        }

        private let sink: FileSink
        private let thread: FileThread
        private var gathered = ReceiveBuffer(expecting: 0)
        private var wasHandedOver = false
        private let work = Locked(Work())
        private let room = DispatchSemaphore(value: FileWriter.mostPieces)

        static let pieceSize = 128 << 10
        /// How many pieces of a file may wait, including the one that is being written.
        static let mostPieces = 2

        init(_ sink: FileSink, _ thread: FileThread) {
            self.sink = sink
            self.thread = thread
        }

        // MARK: The side of the transfer

        /// Appends bytes, and waits while there is no room for them. An error may concern earlier bytes.
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
            wasHandedOver = true
            let failure = work.withLock { work in
                work.pieces.append(piece)
                return work.failure
            }
            thread.perform { self.writePiece() }
            if let failure { throw failure }
        }

        /// Writes the rest and puts the file in its place, unless the calling Task was cancelled meanwhile.
        ///
        /// - Parameter kept: The bytes that came before anything was written, if nothing was.
        /// - Throws: A `RequestError` with the code `fileFailed`, or `CancellationError`. The previous file stays in
        ///   place then.
        func finish(with kept: ReceiveBuffer?) async throws {
            if wasHandedOver {
                // The file thread resumes the continuation once.
                try await withUnsafeThrowingContinuation { continuation in
                    thread.perform { continuation.resume(with: Result { try self.writeRest(kept) }) }
                }
            } else {
                try writeRest(kept)
            }
            try Task.checkCancellation()
            try sink.finish()
        }

        private func writeRest(_ kept: ReceiveBuffer?) throws {
            if let failure = work.withLock({ $0.failure }) { throw failure }
            try sink.write(gathered.bytes)
            if let kept { try sink.write(kept.bytes) }
            try sink.endWriting()
        }

        /// Removes what was written, unless the file is finished.
        func discard() {
            sink.discard()
            let unwritten = work.withLock { work in
                defer { work.pieces = [] }
                return work.pieces
            }
            // The memory of the pieces is freed outside the lock.
            withExtendedLifetime(unwritten) {}
        }

        /// How many pieces wait to be written, not counting the one that is being written.
        var waitingPieces: Int { work.withLock { $0.pieces.count } }

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
