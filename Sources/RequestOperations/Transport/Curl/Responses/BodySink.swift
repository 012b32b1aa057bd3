#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Where an accepted body goes.
    enum BodySink {
        case memory
        case file(FileWriter)
        /// To a consumer, or to a special file. Writing to one may block, so the driver thread does not do it.
        case stream(@Sendable (Data) async throws -> Void, finish: @Sendable () async throws -> Void)

        init(_ destination: TransportTask.Destination) throws {
            switch destination {
            case .memory: self = .memory
            case .stream(let consumer): self = .stream(consumer, finish: {})
            case .file(let url):
                if let special = SpecialFile(url) {
                    self = .stream({ try await special.write($0) }, finish: { try await special.finish() })
                } else {
                    self = .file(FileWriter(try FileSink(url)))
                }
            }
        }

        var delivery: CurlTransferState.Delivery {
            switch self {
            case .memory: .memory
            case .file(let file): .file(file)
            case .stream: .stream(isPaused: false)
            }
        }

        func consume(_ piece: Data) async throws {
            if case .stream(let consume, _) = self { try await consume(piece) }
        }

        /// Writes the rest of a complete body.
        func finish(with kept: Data) async throws {
            switch self {
            case .memory: break
            case .file(let file): try file.finish(with: kept)
            case .stream(_, let finish): try await finish()
            }
        }

        /// Discards an incomplete file.
        func discard() {
            if case .file(let file) = self { file.discard() }
        }
    }

    /// Writes a body to a file.
    ///
    /// libcurl delivers at most 16 KiB at a time, from any offset. This type gathers that into pieces of whole pages,
    /// which the system writes in two thirds of the time.
    // Unchecked: the driver thread uses it until the transfer has ended, and the Task of the transfer after that.
    final class FileWriter: @unchecked Sendable {
        private let sink: FileSink
        private var gathered = Data()

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
                gathered.append(contentsOf: part)
                try sink.file.append(gathered)
                gathered.removeAll(keepingCapacity: true)
            }
            gathered.append(contentsOf: rest)
        }

        /// Writes the rest and puts the file in its place, unless the calling Task was cancelled meanwhile.
        ///
        /// - Parameter kept: The bytes that came before anything was written.
        /// - Throws: A `RequestError` with the code `fileFailed`, or `CancellationError`. The previous file stays in
        ///   place then.
        func finish(with kept: Data) throws {
            try sink.file.append(gathered)
            try sink.file.append(kept)
            try sink.finish()
        }

        /// Removes what was written, unless the file is finished.
        func discard() {
            sink.discard()
        }
    }
#endif
