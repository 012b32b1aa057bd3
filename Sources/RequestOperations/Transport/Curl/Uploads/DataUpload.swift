#if canImport(CRequestOperationsCurl) && canImport(Glibc)
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
#endif
