#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

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
        /// Reads a source of no bytes to its end, in its own Task, and checks that it is empty. The source is user code. If it does
        /// not notice a cancel, the Task is left behind.
        ///
        /// - Parameter limit: How long that may take; `nil` means no limit.
        /// - Throws: The source's own error, `unencodableBody` if it gives a byte, `timedOut`, or `CancellationError`.
        func expectNothing(within limit: Duration?) async throws {
            let exceeded: @Sendable (Duration) -> any Error = {
                RequestError(.timedOut, "the body's source did not end within \($0)")
            }
            try await TimeLimit.run(limit, on: ContinuousClock(), exceeded: exceeded) { try await readAll { _ in } }
        }
    }

    /// A file, whose length is read at the beginning. If the file grows meanwhile, it is sent up to that length. If it
    /// shrinks, the transfer fails. The file is opened when its first byte is needed, so waiting requests use no
    /// descriptor for it.
    // Unchecked: the offset and the descriptor belong to the driver thread.
    final class FileUpload: UploadSource, @unchecked Sendable {
        private let path: String
        /// -1 before the file is opened.
        private var file: Int32 = -1
        private let size: Int64
        private var offset: Int64 = 0

        /// - Throws: A `RequestError` with the code `unencodableBody`.
        init(_ url: URL) throws {
            path = url.path
            size = try RequestBody.length(ofFile: url)
        }

        deinit {
            if file >= 0 { close(file) }
        }

        /// Opens the file, unless it is open already.
        private func opened() throws -> Int32 {
            guard file < 0 else { return file }
            // If a pipe has replaced the file, a plain open would block until there is a writer.
            let new = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard new >= 0 else { throw RequestError.ofSystem(.unencodableBody, "the body's file cannot be opened") }
            // `deinit` closes it, whatever it is.
            file = new
            var status = stat()
            fstat(new, &status)
            _ = try RequestBody.length(of: status)
            return new
        }

        var length: Int64? { size }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
            let wanted = Int(min(Int64(buffer.count), size - offset))
            guard wanted > 0 else { return .bytes(0) }
            let file: Int32
            do { file = try opened() } catch { return .failed(error) }
            var count: Int
            repeat { count = pread(file, buffer.baseAddress, wanted, off_t(offset)) } while count < 0 && errno == EINTR
            guard count >= 0 else {
                return .failed(RequestError.ofSystem(.unencodableBody, "the body's file cannot be read"))
            }
            guard count > 0 else {
                return .failed(RequestError(.unencodableBody, "the body's file became shorter while it was sent"))
            }
            offset += Int64(count)
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }
    }
#endif
