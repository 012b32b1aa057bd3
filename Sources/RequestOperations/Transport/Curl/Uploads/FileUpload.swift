#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

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
            guard url.isFileURL else {
                throw RequestError(.unencodableBody, stage: .transfer, reason: "the body's URL is not that of a file")
            }
            path = url.path
            var status = stat()
            guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Self.error("cannot be opened") }
            guard Self.isRegular(status) else { throw Self.isNoFile }
            size = Int64(status.st_size)
        }

        deinit {
            if file >= 0 { close(file) }
        }

        private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

        private static var isNoFile: RequestError {
            RequestError(.unencodableBody, stage: .transfer, reason: "the body's file is not a regular file")
        }

        /// Opens the file, unless it is open already.
        private func opened() throws -> Int32 {
            guard file < 0 else { return file }
            // If a pipe has replaced the file, a plain open would block until there is a writer.
            let new = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard new >= 0 else { throw Self.error("cannot be opened") }
            var status = stat()
            guard fstat(new, &status) == 0, Self.isRegular(status) else {
                close(new)
                throw Self.isNoFile
            }
            file = new
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
            guard count >= 0 else { return .failed(Self.error("cannot be read")) }
            guard count > 0 else {
                return .failed(
                    RequestError(
                        .unencodableBody, stage: .transfer, reason: "the body's file became shorter while it was sent"))
            }
            offset += Int64(count)
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }

        private static func error(_ what: String) -> RequestError {
            let number = errno
            return RequestError(
                DescriptorShare.isShortage(number) ? .outOfLocalResources : .unencodableBody, stage: .transfer,
                underlying: POSIXError.Code(rawValue: number).map { POSIXError($0) },
                reason: "the body's file \(what): \(String(cString: strerror(number)))")
        }
    }
#endif
