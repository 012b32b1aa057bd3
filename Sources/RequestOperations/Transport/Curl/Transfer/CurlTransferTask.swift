#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The Task's side of one transfer: submits it, answers the head, runs the user's code, and makes the result.
    ///
    /// Each waiting operation has one of these in memory, so it is small. What does not wait is a function of its own.
    struct CurlTransferTask {
        private let task: TransportTask
        let transfer: CurlTransfer
        private let onHead: @Sendable (ResponseHead) throws -> Void

        /// A body in memory up to this size is copied and sent together with the head.
        private static let smallBody = 64 << 10

        /// - Throws: A `RequestError` that says which part of the task cannot be sent.
        init(
            _ task: TransportTask, driver: CurlDriver, submitted: Int64,
            onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) throws {
            if case .urlSessionTask = task.execution {
                throw RequestError(.unsupported, "a URLSession's task needs a URLSessionTransport")
            }
            let request = try CurlRequest(task.request)
            let (upload, smallBody) = try Self.body(of: task, request)
            let limits = task.effectiveLimits
            let easy = driver.handles.take()
            easy.prepare(
                request, body: upload, smallBody: smallBody, connectLimit: limits.connect,
                expectsNothing: task.expectsNothing)
            if let refusal = easy.refusal { throw refusal }
            transfer = CurlTransfer(
                task, request, limits, driver: driver, easy: easy, upload: upload, submitted: submitted)
            transfer.progress.bytesToSend = smallBody.map { Int64($0.count) } ?? upload?.length
            self.task = task
            self.onHead = onHead
        }

        private static func body(
            of task: TransportTask, _ request: CurlRequest
        ) throws -> ((any UploadSource)?, smallBody: Data?) {
            if request.method == "HEAD", !task.body.isNone {
                throw RequestError(.unsupported, "a HEAD request cannot have a body")
            }
            switch task.body {
            case .none:
                // These methods are about content, so a request without a body says that it has none (RFC 9110, section
                // 8.6).
                return (nil, ["POST", "PUT", "PATCH"].contains(request.method) ? Data() : nil)
            case .data(let data):
                return data.count <= smallBody ? (nil, data) : (DataUpload(data), nil)
            case .file(let file):
                return (try FileUpload(file), nil)
            case .stream(let stream):
                return (StreamUpload(stream), nil)
            }
        }

        /// The error of a request that a transport no longer accepts.
        static var shutDownError: RequestError {
            RequestError(.unsupported, "the transport has been shut down")
        }

        // MARK: Flow

        func run() async throws -> TransportResponse {
            try await withTaskCancellationHandler {
                try await carryOut()
            } onCancel: { [transfer] in
                transfer.abort()
            }
        }

        private func carryOut() async throws -> TransportResponse {
            let reader = try submit()
            defer { reader?.cancel() }
            var state = State()
            while true {
                switch advance(&state) {
                case .wait:
                    // The unsafe variant saves one object. The machine resumes each waiting continuation exactly once.
                    await withUnsafeContinuation { continuation in
                        if !transfer.exchange.withLock({ $0.wait(continuation) }) { continuation.resume() }
                    }
                case .consume(let piece):
                    await consume(piece, &state)
                case .conclude:
                    if !transfer.isForMemory { await finishDelivery(&state) }
                    return try conclude(state)
                }
            }
        }

        /// Gives the transfer to the driver. Returns the Task that reads a streamed body, if there is one.
        private func submit() throws -> Task<Void, Never>? {
            guard transfer.driver.call(for: transfer, isNew: true) else {
                // A cancel may have put the transfer into the inbox anyway, so the driver may have it as well.
                throw TransferFailure(Self.shutDownError, phase: .connect)
            }
            return (transfer.upload as? StreamUpload)?.start { [transfer] in transfer.driver.call(for: transfer) }
        }

        private enum Step {
            case wait
            case consume(Data)
            case conclude
        }

        /// Handles the driver's signals until there is something to wait for.
        private func advance(_ state: inout State) -> Step {
            while let (signal, callsDriver) = transfer.exchange.withLock({ $0.take() }) {
                if callsDriver { transfer.driver.call(for: transfer) }
                switch signal {
                case .head(let head): answer(head, &state)
                case .progress(let progress): task.onProgress?(progress)
                case .piece(let piece): return .consume(piece)
                case .ended: return .conclude
                }
            }
            return .wait
        }

        /// What the Task has found out so far.
        private struct State {
            var head: ResponseHead?
            var sink = BodySink.memory
            /// Why the Task ended the transfer, or did not want the response.
            var rejection: (any Error)?
        }

        private func answer(_ head: ResponseHead, _ state: inout State) {
            state.head = head
            guard !Task.isCancelled else {
                // The operation is cancelled, so the head is no longer judged.
                state.rejection = CancellationError()
                return
            }
            do {
                try onHead(head)
                state.sink = try BodySink(task.destination)
                let delivery = state.sink.delivery
                if transfer.exchange.withLock({ $0.accept(delivery) }) { transfer.driver.call(for: transfer) }
            } catch {
                state.rejection = error
                if transfer.exchange.withLock({ $0.reject() }) { transfer.driver.call(for: transfer) }
            }
        }

        private func consume(_ piece: Data, _ state: inout State) async {
            guard state.rejection == nil else { return }
            do {
                try await state.sink.consume(piece)
            } catch {
                state.rejection = error
                transfer.abort()
            }
        }

        // MARK: End

        /// Gives the rest of a body to the file or the consumer, and makes sure that a complete body is written as a
        /// whole. A consumer also gets the received part of a body that broke off, so that a download can go on from
        /// there.
        private func finishDelivery(_ state: inout State) async {
            if case .stopped(.aborted)? = transfer.outcome { return }
            guard state.rejection == nil else { return }
            if case .stream = state.sink, !transfer.kept.isEmpty { await consume(transfer.takeKept(), &state) }
            guard state.rejection == nil, transfer.failure() == nil else { return }
            do {
                try await state.sink.finish(with: transfer.kept)
            } catch {
                state.rejection = error
            }
        }

        private func conclude(_ state: State) throws -> TransportResponse {
            var timings = transfer.timings()
            timings.httpVersion = state.head?.version
            let failure = transfer.failure()
            let connectionStands = transfer.endedAlone
            defer { transfer.forgetUser() }
            recycle()
            func failed(_ error: any Error, _ phase: TransferFailure.Phase) -> any Error {
                state.sink.discard()
                var failure = TransferFailure(
                    error, head: state.head, bodyPrefix: Data(transfer.kept.prefix(transfer.limits.keptErrorBody)),
                    bodySize: transfer.received, phase: phase,
                    requestMayHaveBeenProcessed: phase != .connect || transfer.sends > 0,
                    connectionWasReused: timings.connectionWasReused, timings: timings)
                failure.connectionStands = connectionStands
                failure.connectionWasGivenUp = transfer.connection.loss == .silence
                guard error is CancellationError, Task.isCancelled else { return failure }
                task.trace?.note(failure)
                return error
            }
            if case .stopped(.aborted)? = transfer.outcome, Task.isCancelled {
                throw failed(CancellationError(), transfer.phase)
            }
            if let rejection = state.rejection { throw failed(rejection, .body) }
            if let failure { throw failed(failure, transfer.phase) }
            guard let head = state.head else {
                // libcurl accepts a head that breaks off.
                throw failed(
                    RequestError(.connectionLost, "the connection ended in the head"), .head)
            }
            reportEnd(timings)
            return response(head, timings)
        }

        /// The Task now owns what the driver has kept.
        private func response(_ head: ResponseHead, _ timings: TransferTimings) -> TransportResponse {
            switch task.destination {
            case .memory:
                return TransportResponse(head: head, body: transfer.takeKept(), timings: timings)
            case .file(let url):
                return TransportResponse(head: head, file: url, bodySize: transfer.received, timings: timings)
            case .stream:
                return TransportResponse(head: head, bodySize: transfer.received, timings: timings)
            }
        }

        private func reportEnd(_ timings: TransferTimings) {
            guard let onProgress = task.onProgress else { return }
            var progress = transfer.progress
            progress.bytesSent = timings.bytesSent ?? progress.bytesSent
            progress.bytesReceived = transfer.received
            onProgress(progress)
        }

        /// Returns the handle to the pool if it can serve another transfer. Everything that libcurl knows of this
        /// transfer has been read.
        private func recycle() {
            guard let easy = transfer.easy else { return }
            transfer.easy = nil
            // With libcurl 8.18, a handle keeps its pause. If a transfer ended while paused, the next one of that
            // handle begins paused.
            guard transfer.paused.isEmpty else { return }
            transfer.driver.handles.release(easy)
        }
    }

    extension CurlTransfer {
        /// Whether libcurl had chosen another connection, but the request was not sent again over it.
        private var wasRefusedReplay: Bool { if case .stopped(.replayRefused)? = outcome { true } else { false } }

        /// The measured times. Called when the transfer has ended, before its handle is used again.
        func timings() -> TransferTimings {
            var timings = TransferTimings()
            timings.total = .nanoseconds(ended - submitted)
            if began > 0 { timings.queue = .nanoseconds(began - submitted) }
            timings.wasReplayed = wasReplayed
            // If libcurl did nothing with a handle, its values are those of an earlier transfer.
            guard let easy, connection.hasSocket || sends > 0 else { return timings }
            // libcurl measures from when it begins, or begins again after a wait or a dead connection. But it repeats a
            // request that was answered with 417 within the same measurement.
            let isOneCourse = sends > 1 && !wasReplayed
            let start =
                (isOneCourse ? began : max(began, sent - easy.offset(CURLINFO_PRETRANSFER_TIME_T) * 1000)) - submitted
            func time(_ measure: CURLINFO) -> Duration? {
                let microseconds = easy.offset(measure)
                return microseconds > 0 ? .nanoseconds(start + microseconds * 1000) : nil
            }
            let newConnections = easy.number(CURLINFO_NUM_CONNECTS)
            if sends == 0 || newConnections > 0 {
                timings.nameLookup = hasName ? time(CURLINFO_NAMELOOKUP_TIME_T) : nil
                timings.connect = time(CURLINFO_CONNECT_TIME_T)
                timings.secureConnect = time(CURLINFO_APPCONNECT_TIME_T)
            }
            if sends > 0 {
                timings.connectionWasReused = wasRefusedReplay ? connection.isReused : newConnections == 0
                timings.requestSent = .nanoseconds(sent - submitted)
                timings.firstByte = firstByte > 0 ? .nanoseconds(firstByte - submitted) : nil
                timings.bytesSent = easy.sent
                timings.bytesReceived = easy.received
            }
            timings.remoteAddress = easy.remoteAddress
            return timings
        }
    }
#endif
