#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

    /// The file that an accepted response is written to: created or emptied at once, removed unless it is finished.
    // Unchecked: written by the driver thread, and by the Task when the driver is done, which `TransferMachine` sees to.
    final class CurlFileSink: @unchecked Sendable {
        let url: URL
        private var file: Int32
        private var isFinished = false

        /// - Throws: A `RequestError` with the code `fileFailed`.
        init(_ url: URL) throws {
            guard url.isFileURL else {
                throw RequestError(.fileFailed, stage: .transfer, reason: "the destination's URL is not that of a file")
            }
            self.url = url
            file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
            guard file >= 0 else { throw Self.error("opened") }
        }

        deinit {
            if file >= 0 { close(file) }
            if !isFinished { unlink(url.path) }
        }

        /// Appends bytes, all of them.
        ///
        /// - Throws: A `RequestError` with the code `fileFailed`.
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(file, rest.baseAddress, rest.count)
                if count < 0 {
                    guard errno == EINTR else { throw Self.error("written") }
                } else {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
        }

        /// Closes the file and keeps it.
        ///
        /// - Throws: A `RequestError` with the code `fileFailed`: some file systems report a full disk only here.
        func finish() throws {
            let result = close(file)
            file = -1
            guard result == 0 else { throw Self.error("closed") }
            isFinished = true
        }

        private static func error(_ verb: String) -> RequestError {
            let cause = POSIXError.Code(rawValue: errno).map { POSIXError($0) }
            return RequestError(
                .fileFailed, stage: .transfer, underlying: cause,
                reason: "the destination cannot be \(verb): \(String(cString: strerror(errno)))")
        }
    }
#endif
