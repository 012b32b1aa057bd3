import RequestOperations

/// Writes to a descriptor, however slowly it is read; but never blocks for good: once hurried, it gives a reader that does
/// not read a second more.
///
/// Used on one queue, but for ``hurry()``.
final class PatientWriter: Sendable {
    /// Why something cannot be written.
    enum Failure: Equatable {
        /// Nobody will ever read it.
        case closed
        /// Nobody has read it in time.
        case stalled
        /// The system said no, with this number.
        case refused(Int32)
    }

    private let descriptor: Int32
    /// A pipe that is writable takes this much without blocking (PIPE_BUF, POSIX); a file takes anything.
    private let pieceSize: Int
    private let hurriedSince = Locked<ContinuousClock.Instant?>(nil)

    /// Makes a writer to a descriptor, which may be non-blocking.
    init(to descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        pieceSize = isFile ? .max : 4096
    }

    /// From now on, waits a second at most for somebody to read. From any thread.
    func hurry() {
        hurriedSince.withLock { $0 = $0 ?? .now }
    }

    /// Whether some bytes would be taken at once.
    var isReady: Bool { poll(for: 0) }

    /// Writes all bytes, and waits for whoever reads them.
    func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard poll(for: 100) else {
                if isLate { return .stalled }
                continue
            }
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(pieceSize))
            let count = Foundation.write(descriptor, piece.baseAddress, piece.count)
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
