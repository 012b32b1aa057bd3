#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation

    /// The lines that a process prints, read on a queue of its own.
    // Unchecked: the handle and the buffer are used on the queue only.
    final class LineReader: @unchecked Sendable {
        private let handle: FileHandle
        private let queue = DispatchQueue(label: "LineReader")
        private var buffer = Data()

        init(_ handle: FileHandle) {
            self.handle = handle
        }

        /// The next line; empty at the end.
        func line() async -> String {
            await withCheckedContinuation { continuation in
                queue.async { [self] in continuation.resume(returning: read()) }
            }
        }

        /// The same, for which the thread waits.
        func blockingLine() -> String {
            queue.sync { read() }
        }

        private func read() -> String {
            while true {
                if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { buffer = Data(buffer[(end + 1)...]) }
                    return String(decoding: buffer[..<end], as: UTF8.self)
                }
                let more = handle.availableData
                guard !more.isEmpty else { return "" }
                buffer += more
            }
        }
    }
#endif
