#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// How the driver thread and the Task of one transfer communicate: a pure state machine behind one lock.
    ///
    /// The driver begins the transfer, delivers the head and what follows it, and ends the transfer. The Task answers
    /// the head, takes its signals, and may abort. After the transfer has ended, the Task may read everything that the
    /// driver wrote.
    struct CurlTransferState: Sendable {
        enum State {
            /// In the inbox, or not begun by the driver.
            case queued
            case awaitingHead
            /// The head has come, and the Task has not accepted or rejected it.
            case unanswered(isPaused: Bool)
            case accepted(Delivery)
            /// The Task did not want the response. The driver reads the rest to keep the connection.
            case rejected
            /// The Task cancelled or gave up, and the driver has not noticed yet.
            case aborting
            /// The driver will never touch the transfer again.
            case ended
        }

        /// Where the bytes of an accepted response go.
        enum Delivery {
            case memory
            case file(FileWriter)
            /// Through a buffer that the Task empties.
            case stream(isPaused: Bool)
        }

        /// What the Task has to do next.
        enum Signal {
            case head(ResponseHead)
            case piece(Data)
            case progress(TransferProgress)
            case ended
        }

        /// What the driver has to do for a transfer that the Task asked it to look at.
        enum Attention {
            case begin
            case goOn
            /// Move what was kept to the stream's buffer and go on.
            case deliver
            case drain
            case abort
        }

        /// What the driver does with bytes of a body.
        enum Reception {
            /// Keep them: the head has not been answered.
            case keep
            /// Like `keep`, and from now on without asking.
            case keepAll
            case write(FileWriter)
            case offered
            case discard
            case pause
            case tooLarge
            case abort
        }

        private(set) var state = State.queued
        /// The head that the Task has not taken.
        private var head: ResponseHead?
        /// The bytes that wait for a consumer.
        private var pending = Data()
        private var progress: TransferProgress?
        private var waiter: UnsafeContinuation<Void, Never>?

        // MARK: The driver's side

        /// Says what to do for a transfer out of the inbox.
        mutating func attend() -> Attention {
            switch state {
            case .queued:
                return .begin
            case .awaitingHead, .ended:
                return .goOn
            case .unanswered:
                state = .unanswered(isPaused: false)
                return .goOn
            case .accepted(.stream):
                state = .accepted(.stream(isPaused: false))
                return .deliver
            case .accepted(.memory), .accepted(.file):
                return .goOn
            case .rejected:
                return .drain
            case .aborting:
                return .abort
            }
        }

        /// The transfer is given to libcurl. Returns `false` if it was aborted before.
        mutating func begin() -> Bool {
            guard case .queued = state else { return false }
            state = .awaitingHead
            return true
        }

        mutating func headArrived(_ head: ResponseHead) {
            guard case .awaitingHead = state else { return }
            self.head = head
            state = .unanswered(isPaused: false)
        }

        /// Bytes of the body have arrived.
        ///
        /// - Parameters:
        ///   - bytes: The bytes; copied only if they go through the stream's buffer.
        ///   - kept: What the driver keeps for the Task so far. A consumer gets it first.
        ///   - limit: How much it keeps at most while the head is unanswered.
        ///   - isTooLarge: Whether the body, with these bytes, exceeds the limit for an accepted response.
        mutating func bodyArrived(
            _ bytes: UnsafeRawBufferPointer, kept: inout Data, limit: Int, isTooLarge: Bool
        ) -> Reception {
            switch state {
            case .unanswered:
                // If the body is too large, no more bytes may follow that would make the driver end the transfer.
                guard isTooLarge || kept.count + bytes.count > limit else { return .keep }
                state = .unanswered(isPaused: true)
                return .pause
            case .accepted where isTooLarge:
                return .tooLarge
            case .accepted(.memory):
                return .keepAll
            case .accepted(.file(let file)):
                return .write(file)
            case .accepted(.stream):
                deliver(&kept)
                guard pending.count < Self.streamBuffer else {
                    state = .accepted(.stream(isPaused: true))
                    return .pause
                }
                pending.append(contentsOf: bytes)
                return .offered
            case .rejected:
                return .discard
            case .queued, .awaitingHead, .aborting, .ended:
                return .abort
            }
        }

        /// Moves what the driver kept before the head was accepted to the stream's buffer.
        mutating func deliver(_ kept: inout Data) {
            guard case .accepted(.stream) = state, !kept.isEmpty else { return }
            pending.append(kept)
            kept = Data()
        }

        mutating func progressed(_ progress: TransferProgress) {
            self.progress = progress
        }

        /// Whether the Task does not want the transfer any more.
        var isAborting: Bool { if case .aborting = state { true } else { false } }

        var isEnded: Bool { if case .ended = state { true } else { false } }

        /// The driver has finished with the transfer and will never touch it again.
        mutating func end() {
            state = .ended
        }

        /// The Task to resume, if it waits and has a signal.
        mutating func wake() -> UnsafeContinuation<Void, Never>? {
            guard waiter != nil, hasSignal else { return nil }
            defer { waiter = nil }
            return waiter
        }

        // MARK: The Task's side

        /// Waits for a signal. Returns `false` if there is one already.
        mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
            guard !hasSignal else { return false }
            waiter = continuation
            return true
        }

        private var hasSignal: Bool {
            isEnded || head != nil && !isAborting || !pending.isEmpty || progress != nil
        }

        /// Takes the next signal, and says whether the driver must be called because the transfer is paused for the
        /// Task.
        mutating func take() -> (Signal, callsDriver: Bool)? {
            if let head, !isAborting {
                self.head = nil
                return (.head(head), false)
            }
            if !pending.isEmpty {
                defer { pending = Data() }
                if case .accepted(.stream(isPaused: true)) = state { return (.piece(pending), true) }
                return (.piece(pending), false)
            }
            if let progress {
                self.progress = nil
                return (.progress(progress), false)
            }
            return isEnded ? (.ended, false) : nil
        }

        /// The Task wants the response. Says whether the driver must be called. After the transfer has ended, it never
        /// must.
        mutating func accept(_ delivery: Delivery) -> Bool {
            guard case .unanswered(let isPaused) = state else { return false }
            state = .accepted(delivery)
            // The kept bytes are written with the next bytes, or at the end.
            if case .stream = delivery { return true }
            return isPaused
        }

        /// The Task does not want the response. Says whether the driver must be called.
        mutating func reject() -> Bool {
            guard case .unanswered = state else { return false }
            state = .rejected
            return true
        }

        /// The transfer must end as soon as possible. Says whether the driver must be called.
        mutating func abort() -> Bool {
            guard !isAborting, !isEnded else { return false }
            state = .aborting
            return true
        }

        /// How many bytes wait for a consumer before the transfer is paused.
        static let streamBuffer = 256 << 10
    }
#endif
