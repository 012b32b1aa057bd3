#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// A body that is made while it is sent. It is read ahead into a bounded buffer, from which the driver thread takes
    /// it.
    ///
    /// The source is user code and runs in its own Task, which inherits the context of the operation. So a source that
    /// does not answer cannot hide the head of an early response, a time limit or a cancel. The time that it takes
    /// counts toward ``TransferLimits/idle``.
    final class StreamUpload: UploadSource {
        private struct State {
            var pieces = Queue<Data>()
            /// How many bytes of the first piece were taken.
            var offset = 0
            var count = 0
            /// Pieces that were taken. The Task releases them, since that may run code of the user.
            var taken: [Data] = []
            var end: End?
            /// Whether the driver found nothing and has to be called when there is something.
            var isDriverWaiting = false
            /// The reader, if it waits for room.
            var reader: CheckedContinuation<Void, Never>?
        }

        private enum End {
            case atLastByte
            case failed(any Error)
            /// The transfer is over.
            case closed
        }

        private let stream: BodyStream
        private let state = Locked(State())

        /// How many bytes are read ahead.
        private static let readAhead = 256 << 10

        init(_ stream: BodyStream) {
            self.stream = stream
        }

        var length: Int64? { stream.length }

        // MARK: The driver's side

        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
            let (read, reader): (UploadRead, CheckedContinuation<Void, Never>?) = state.withLock { state in
                let read = Self.take(from: &state, into: buffer)
                guard state.count < Self.readAhead else { return (read, nil) }
                defer { state.reader = nil }
                return (read, state.reader)
            }
            reader?.resume()
            return read
        }

        private static func take(from state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
            var taken = 0
            while taken < buffer.count, let piece = state.pieces.first {
                let count = min(buffer.count - taken, piece.count - state.offset)
                let start = piece.startIndex + state.offset
                piece.copyBytes(
                    to: UnsafeMutableRawBufferPointer(rebasing: buffer[taken...]), from: start..<(start + count))
                taken += count
                state.offset += count
                if state.offset == piece.count {
                    if let piece = state.pieces.popFirst() { state.taken.append(piece) }
                    state.offset = 0
                }
            }
            state.count -= taken
            if taken > 0 { return .bytes(taken) }
            switch state.end {
            case .atLastByte, .closed:
                return .bytes(0)
            case .failed(let error):
                return .failed(error)
            case nil:
                state.isDriverWaiting = true
                return .notYet
            }
        }

        /// Whether a read would return something.
        var isReadable: Bool { state.withLock { !$0.pieces.isEmpty || $0.end != nil } }

        func rewind() -> Bool { false }

        // MARK: The Task's side

        /// Reads the source to its end, or until the transfer is over. Called once.
        ///
        /// - Parameter callDriver: Called when there is something to read and the driver thread has found nothing
        ///   before.
        func start(callDriver: @escaping @Sendable () -> Void) -> Task<Void, Never> {
            Task {
                do {
                    try await stream.readAll { try await self.push($0, callDriver) }
                    finish(.atLastByte, callDriver)
                } catch {
                    finish(.failed(error), callDriver)
                }
            }
        }

        /// - Throws: `CancellationError` if the transfer is over. No caller sees that error.
        private func push(_ piece: Data, _ callDriver: () -> Void) async throws {
            let (callsDriver, taken) = try state.withLock { state in
                guard state.end == nil else { throw CancellationError() }
                state.pieces.append(piece)
                state.count += piece.count
                defer {
                    state.isDriverWaiting = false
                    state.taken = []
                }
                return (state.isDriverWaiting, state.taken)
            }
            withExtendedLifetime(taken) {}
            if callsDriver { callDriver() }
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.count >= Self.readAhead, state.end == nil else { return false }
                    state.reader = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        }

        private func finish(_ end: End, _ callDriver: () -> Void) {
            let callsDriver = state.withLock { state in
                guard state.end == nil else { return false }
                state.end = end
                return state.isDriverWaiting
            }
            if callsDriver { callDriver() }
        }

        /// The transfer is over: reads nothing more ahead. (The Task releases what was read, together with this
        /// object.)
        func close() {
            let reader = state.withLock { state in
                if state.end == nil { state.end = .closed }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }
#endif
