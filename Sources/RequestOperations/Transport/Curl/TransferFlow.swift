#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The Task's side of one transfer: submits it, answers the head, runs the user's code, and makes the result.
    struct TransferFlow {
        private let task: TransportTask
        private let request: CurlRequest
        private let transfer: CurlTransfer
        private let bytesToSend: Int64?
        private let driver: CurlDriver
        private let onHead: @Sendable (ResponseHead) throws -> Void

        /// A body in memory up to this size is copied and sent together with the head.
        private static let smallBody = 64 << 10

        /// - Throws: A `RequestError` that says what of the task cannot be sent.
        init(
            _ task: TransportTask, driver: CurlDriver, submitted: Int64,
            onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) throws {
            if case .urlSessionTask = task.execution {
                throw RequestError(
                    .unsupported, stage: .transfer, reason: "a URLSession's task needs a URLSessionTransport")
            }
            request = try CurlRequest(task.request)
            let (upload, smallBody) = try Self.body(of: task, request)
            bytesToSend = smallBody.map { Int64($0.count) } ?? upload?.length
            let limits = task.limits ?? TransferLimits()
            var isLarge = false
            if case .file = task.destination { isLarge = true }
            let easy = driver.handles.take()
            easy.prepare(
                request, body: upload, smallBody: smallBody, isLarge: isLarge, connectLimit: limits.connect)
            transfer = CurlTransfer(
                driver: driver, easy: easy, request: request, limits: .init(limits), upload: upload,
                wantsProgress: task.onProgress != nil, submitted: submitted)
            transfer.progress.bytesToSend = bytesToSend
            self.task = task
            self.driver = driver
            self.onHead = onHead
        }

        private static func body(
            of task: TransportTask, _ request: CurlRequest
        ) throws -> ((any UploadSource)?, smallBody: Data?) {
            if request.method == "HEAD", !task.body.isNone {
                throw RequestError(.unsupported, stage: .transfer, reason: "a HEAD request cannot have a body")
            }
            switch task.body {
            case .none:
                // A method that is about its content says that there is none (RFC 9110, section 8.6).
                return (nil, ["POST", "PUT", "PATCH"].contains(request.method) ? Data() : nil)
            case .data(let data):
                return data.count <= smallBody ? (nil, data) : (DataUpload(data), nil)
            case .file(let file):
                return (try FileUpload(file), nil)
            case .stream(let stream):
                return (StreamUpload(stream), nil)
            }
        }

        // MARK: Flow

        func run() async throws -> TransportResponse {
            try await withTaskCancellationHandler {
                try await carryOut()
            } onCancel: { [transfer, driver] in
                if transfer.exchange.withLock({ $0.abort() }) { driver.call(for: transfer) }
            }
        }

        private func carryOut() async throws -> TransportResponse {
            guard driver.call(for: transfer, isNew: true) else {
                recycle()
                throw TransferFailure(
                    RequestError(.unsupported, stage: .transfer, reason: "the transport has been shut down"),
                    phase: .connect)
            }
            let reader = (transfer.upload as? StreamUpload)?.start { [driver, transfer] in driver.call(for: transfer) }
            defer { reader?.cancel() }
            var state = Progression()
            while true {
                switch await nextSignal() {
                case .head(let received):
                    answer(received, &state)
                case .piece(let buffer):
                    await consume(buffer.takeData(), &state)
                case .progress(var progress):
                    progress.bytesToSend = bytesToSend
                    task.onProgress?(progress)
                case .ended:
                    return try await conclude(state)
                }
            }
        }

        /// What the Task has found out so far.
        private struct Progression {
            var head: ResponseHead?
            var sink: FileSink?
            /// Why the Task ended the transfer, or did not want the response.
            var rejection: (any Error)?
        }

        private func nextSignal() async -> TransferMachine.Signal {
            while true {
                if let (signal, callsDriver) = transfer.exchange.withLock({ $0.take() }) {
                    if callsDriver { driver.call(for: transfer) }
                    return signal
                }
                await withCheckedContinuation { continuation in
                    let waits = transfer.exchange.withLock { $0.wait(continuation) }
                    if !waits { continuation.resume() }
                }
            }
        }

        private func answer(_ received: ReceivedHead, _ state: inout Progression) {
            let head = ResponseHead(
                status: received.status, url: request.url, block: received.block, version: received.version)
            state.head = head
            do {
                try onHead(head)
                let delivery: TransferMachine.Delivery
                switch task.destination {
                case .memory:
                    delivery = .memory
                case .file(let url):
                    let sink = try FileSink(url)
                    state.sink = sink
                    delivery = .file(sink)
                case .stream:
                    delivery = .stream(ReceiveBuffer(expecting: 0), isPaused: false)
                }
                if transfer.exchange.withLock({ $0.accept(delivery) }) { driver.call(for: transfer) }
            } catch {
                state.rejection = error
                if transfer.exchange.withLock({ $0.reject() }) { driver.call(for: transfer) }
            }
        }

        private func consume(_ piece: Data, _ state: inout Progression) async {
            guard case .stream(let consumer) = task.destination, state.rejection == nil else { return }
            do {
                try await consumer(piece)
            } catch {
                state.rejection = error
                abort()
            }
        }

        private func abort() {
            if transfer.exchange.withLock({ $0.abort() }) { driver.call(for: transfer) }
        }

        // MARK: End

        private func conclude(_ progression: Progression) async throws -> TransportResponse {
            var state = progression
            let timings = transfer.timings()
            let failure = transfer.failure(to: request.url)
            recycle()
            func failed(_ error: any Error, _ phase: TransferFailure.Phase) -> TransferFailure {
                state.sink?.discard()
                return TransferFailure(
                    error, head: state.head, bodyPrefix: prefix(of: state), phase: phase,
                    requestMayHaveBeenProcessed: phase != .connect,
                    connectionWasReused: timings.connectionWasReused, timings: timings)
            }
            if case .stopped(.aborted)? = transfer.outcome, Task.isCancelled {
                state.sink?.discard()
                throw CancellationError()
            }
            if let rejection = state.rejection { throw failed(rejection, .body) }
            if let failure { throw failed(failure, transfer.phase) }
            guard let head = state.head else {
                throw failed(
                    RequestError(.malformedResponse, stage: .transfer, reason: "the response has no head"), .head)
            }
            do {
                let response = try await deliver(head, &state, timings)
                reportEnd(timings)
                return response
            } catch {
                throw failed(error, .body)
            }
        }

        /// What the driver has kept belongs to this side now.
        private func deliver(
            _ head: ResponseHead, _ state: inout Progression, _ timings: TransferTimings
        ) async throws -> TransportResponse {
            let kept = transfer.kept
            if let limit = transfer.limits.body, transfer.received > limit {
                throw RequestError(.bodyTooLarge, stage: .transfer, reason: "the body has more than \(limit) bytes")
            }
            switch task.destination {
            case .memory:
                return TransportResponse(head: head, body: kept?.takeData() ?? Data(), timings: timings)
            case .file(let url):
                if let kept, !kept.isEmpty { try state.sink?.write(kept.bytes) }
                try state.sink?.finish()
                return TransportResponse(head: head, file: url, bodySize: transfer.received, timings: timings)
            case .stream(let consumer):
                if let kept, !kept.isEmpty { try await consumer(kept.takeData()) }
                return TransportResponse(head: head, bodySize: transfer.received, timings: timings)
            }
        }

        private func prefix(of state: Progression) -> Data {
            guard let kept = transfer.kept else { return Data() }
            return Data(kept.bytes.prefix(TransferLimits.keptErrorBody))
        }

        private func reportEnd(_ timings: TransferTimings) {
            guard let onProgress = task.onProgress else { return }
            var progress = transfer.progress
            progress.bytesToSend = bytesToSend
            progress.bytesSent = timings.bytesSent ?? progress.bytesSent
            progress.bytesReceived = transfer.received
            onProgress(progress)
        }

        /// Gives the handle back; what libcurl knows of the transfer has been read.
        private func recycle() {
            guard let easy = transfer.easy else { return }
            transfer.easy = nil
            driver.handles.give(easy)
        }
    }
#endif
