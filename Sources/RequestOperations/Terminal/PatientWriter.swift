/// Writes to a descriptor, no matter how slowly it is read.
///
/// A write waits for a reader, without a limit of its own. Once hurried, the writer waits one more second at most. A pipe
/// whose reader has gone is an error, and raises no signal. One thread at a time writes.
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

    /// Whether a write must not wait any longer, because the writer was hurried.
    package var isLate: Bool {
        hurriedSince.withLock { $0.map { $0.duration(to: .now) > .seconds(1) } } ?? false
    }

    /// Whether the descriptor takes some bytes at once.
    package var isReady: Bool { poll(for: 0) }

    /// Waits until the descriptor takes some bytes. Returns `false` if it does not before a deadline.
    package func isReady(by deadline: ContinuousClock.Instant) -> Bool {
        while !poll(for: Int32(min(max((deadline - .now) / .milliseconds(1), 0), 100).rounded(.up))) {
            guard .now < deadline else { return false }
        }
        return true
    }

    /// Writes all bytes, and waits until they are read.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - deadline: When it stops waiting. Without one, it waits as long as the writer does.
    /// - Returns: Why it failed, or `nil`.
    package func write(_ bytes: some ContiguousBytes, by deadline: ContinuousClock.Instant? = nil) -> Failure? {
        bytes.withUnsafeBytes { write($0, by: deadline) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, by deadline: ContinuousClock.Instant?) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard poll(for: 100) else {
                if isLate || deadline.map({ $0 <= .now }) == true { return .stalled }
                continue
            }
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(pieceSize))
            let (count, failure) = withoutSignalOfBrokenPipe {
                let count = writeBytes(descriptor, piece.baseAddress, piece.count)
                return (count, errno)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if failure != EINTR, failure != EAGAIN {
                return failure == EPIPE ? .closed : .refused(failure)
            }
        }
        return nil
    }

    private func poll(for milliseconds: Int32) -> Bool {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Foundation.poll(&writable, 1, milliseconds) > 0
    }
}
