#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Writes a body to a file.
    ///
    /// libcurl delivers at most 16 KiB at a time, from any offset. This type gathers that into pieces of whole pages,
    /// which the system writes in two thirds of the time.
    // Unchecked: the driver thread uses it until the transfer has ended, and the Task of the transfer after that.
    final class FileWriter: @unchecked Sendable {
        private let sink: FileSink
        private var gathered = ReceiveBuffer(expecting: 0)

        static let pieceSize = 128 << 10

        init(_ sink: FileSink) {
            self.sink = sink
        }

        /// Appends bytes.
        ///
        /// - Throws: A `RequestError` with the code `fileFailed`, which may concern earlier bytes.
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            var rest = bytes[...]
            while gathered.count + rest.count >= Self.pieceSize {
                let part = rest.prefix(Self.pieceSize - gathered.count)
                rest = rest.dropFirst(part.count)
                gather(part)
                try sink.write(gathered.bytes)
                gathered = ReceiveBuffer(expecting: Self.pieceSize)
            }
            gather(rest)
        }

        private func gather(_ part: Slice<UnsafeRawBufferPointer>) {
            let part = UnsafeRawBufferPointer(rebasing: part)
            if let start = part.baseAddress, !part.isEmpty { gathered.append(start, count: part.count) }
        }

        /// Writes the rest and puts the file in its place, unless the calling Task was cancelled meanwhile.
        ///
        /// - Parameter kept: The bytes that came before anything was written, if nothing was.
        /// - Throws: A `RequestError` with the code `fileFailed`, or `CancellationError`. The previous file stays in
        ///   place then.
        func finish(with kept: ReceiveBuffer?) throws {
            try sink.write(gathered.bytes)
            if let kept { try sink.write(kept.bytes) }
            try sink.endWriting()
            try Task.checkCancellation()
            try sink.finish()
        }

        /// Removes what was written, unless the file is finished.
        func discard() {
            sink.discard()
        }
    }
#endif
