#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The source from which the driver thread reads the body of a request. It never blocks on code of the user.
    protocol UploadSource: AnyObject, Sendable {
        /// The number of bytes, or `nil` for a body that is sent in chunks.
        var length: Int64? { get }

        /// Fills a buffer.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead

        /// Goes back to the first byte, to send the body again. Returns `false` if the source cannot.
        func rewind() -> Bool
    }

    enum UploadRead {
        /// This many bytes; 0 is the end.
        case bytes(Int)
        /// There is nothing yet. The source calls the driver when there is.
        case notYet
        case failed(any Error)
    }

    /// A body in memory.
    // Unchecked: the offset belongs to the driver thread.
    final class DataUpload: UploadSource, @unchecked Sendable {
        private let data: Data
        private var offset = 0

        init(_ data: Data) {
            self.data = data
        }

        var length: Int64? { Int64(data.count) }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
            let count = min(buffer.count, data.count - offset)
            let start = data.startIndex + offset
            data.copyBytes(to: buffer, from: start..<(start + count))
            offset += count
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }
    }

    extension BodyStream {
        /// Reads a source to its end, in its own Task, and checks that it is empty. The source is user code. If it does
        /// not notice a cancel, the Task is left behind.
        ///
        /// - Parameter limit: How long that may take; `nil` means no limit.
        /// - Throws: The source's own error, `unencodableBody` if it gives a byte, `timedOut`, or `CancellationError`.
        func expectNothing(within limit: Duration?) async throws {
            let exceeded: @Sendable (Duration) -> any Error = {
                RequestError(.timedOut, stage: .transfer, reason: "no end of the body's source for \($0)")
            }
            try await TimeLimit.run(limit, on: ContinuousClock(), exceeded: exceeded) { try await readNothing() }
        }

        private func readNothing() async throws {
            let reader = try await open()
            while let piece = try await reader.next() {
                try Task.checkCancellation()
                guard piece.isEmpty else { throw StreamUpload.wrongLength("more") }
            }
        }
    }
#endif
