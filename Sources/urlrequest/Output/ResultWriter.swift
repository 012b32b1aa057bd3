import RequestOperations

/// Writes results to standard output in batches, whole lines in their order.
///
/// Used on one queue. It never blocks for good: once hurried, it gives a reader that does not read a second more.
// Unchecked: all but `hurriedSince` is touched on the reporter's queue only.
final class ResultWriter: @unchecked Sendable {
    /// Why results cannot be written any more.
    enum Failure: Equatable {
        /// Nobody will ever read them.
        case closed
        /// Nobody has read them in time.
        case stalled
        /// The system said no, with this number.
        case refused(Int32)
    }

    /// Beyond this many bytes a batch is written without waiting for its end.
    static let batchSize = 32 << 10

    private let descriptor: Int32
    /// A pipe that is writable takes this much without blocking (PIPE_BUF, POSIX); a file takes anything.
    private let pieceSize: Int
    private var batch: [UInt8] = []
    private var failure: Failure?
    private let hurriedSince = Locked<ContinuousClock.Instant?>(nil)

    /// Makes a writer to a descriptor.
    init(to descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        pieceSize = isFile ? .max : 4096
        batch.reserveCapacity(2 * Self.batchSize)
    }

    /// Whether enough lines wait for a batch.
    var isFull: Bool { batch.count >= Self.batchSize }

    /// Adds a line to the batch.
    func append(_ line: String) {
        if failure == nil { batch.append(contentsOf: line.utf8) }
    }

    /// Writes the batch. After a failure, nothing is written any more.
    ///
    /// - Returns: The failure if it came now.
    func flush() -> Failure? {
        guard failure == nil, !batch.isEmpty else { return nil }
        failure = batch.withUnsafeBytes(write)
        batch.removeAll(keepingCapacity: true)
        return failure
    }

    /// From now on, waits a second at most for somebody to read. From any thread.
    func hurry() {
        hurriedSince.withLock { $0 = $0 ?? .now }
    }

    private var isLate: Bool {
        hurriedSince.withLock { $0.map { $0.duration(to: .now) > .seconds(1) } } ?? false
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&writable, 1, 100) > 0 else {
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
}
