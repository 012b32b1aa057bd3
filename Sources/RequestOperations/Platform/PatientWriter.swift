/// Writes to a descriptor, no matter how slowly it is read.
///
/// It never blocks for ever: once hurried, it waits only one more second for a reader. One thread at a time writes.
package final class PatientWriter: Sendable {
    /// Why bytes cannot be written.
    package enum Failure: Error, Equatable {
        /// The reader has closed its end.
        case closed
        /// The bytes were not read in time.
        case stalled
        /// The system refused the write, with this error number.
        case refused(Int32)
    }

    private let descriptor: Int32
    /// A writable pipe takes this many bytes without blocking (PIPE_BUF, POSIX). A file takes any number.
    private let pieceSize: Int
    private let hurriedSince = Locked<ContinuousClock.Instant?>(nil)

    /// Makes a writer for a descriptor, which may be non-blocking.
    package init(to descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        pieceSize = isFile ? .max : 4096
    }

    /// From now on, waits at most one second for a reader. May be called on any thread.
    package func hurry() {
        hurriedSince.withLock { $0 = $0 ?? .now }
    }

    /// Whether the descriptor would take some bytes at once.
    package var isReady: Bool { poll(for: 0) }

    /// Writes all bytes, and waits until they are read. Returns why it failed, or `nil`.
    package func write(_ bytes: some ContiguousBytes) -> Failure? {
        bytes.withUnsafeBytes(write)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard poll(for: 100) else {
                if isLate { return .stalled }
                continue
            }
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(pieceSize))
            let count = writeBytes(descriptor, piece.baseAddress, piece.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                return errno == EPIPE ? .closed : .refused(errno)
            }
        }
        return nil
    }

    private var isLate: Bool {
        hurriedSince.withLock { $0.map { $0.duration(to: .now) > .seconds(1) } } ?? false
    }

    private func poll(for milliseconds: Int32) -> Bool {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Foundation.poll(&writable, 1, milliseconds) > 0
    }
}
