#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One transfer: what the driver thread keeps while it runs, and what the Task reads when it has ended.
    // Unchecked: `exchange` is a lock. The constants are set before the transfer is submitted. The driver thread alone
    // touches the variables from the submission until `CurlTransferState.end()`. After the Task has noticed that, it
    // alone touches them. The exceptions are `index`, `origin`, `place`, `looksUp` and `isReady`, which always belong to the driver.
    final class CurlTransfer: @unchecked Sendable {
        let exchange = Locked(CurlTransferState())
        let url: URL
        let limits: Limits
        /// Whether the request may be sent a second time without a decision.
        let isSafe: Bool
        let isForHead: Bool
        /// Whether the transfer uses a new connection, made for it or for others that want one as well.
        let wantsNewConnection: Bool
        let isSecure: Bool
        let mayUseHTTP2: Bool
        /// Whether its connection may take other requests at the same time.
        var mayShare: Bool { mayUseHTTP2 && CurlLibrary.sharesConnections }
        /// Whether its host is a name, not an address.
        let hasName: Bool
        /// Scheme, host and port of its URL.
        private(set) lazy var origin = Origin(url)
        /// The body, until the Task has made the result.
        private(set) var upload: (any UploadSource)?
        let wantsProgress: Bool
        /// Whether the whole body is kept in memory. Otherwise it goes on to a file or a consumer.
        let isForMemory: Bool
        /// Whether the transfer needs a descriptor for a file in addition to that of its connection.
        let usesFile: Bool
        /// When `perform` was called.
        let submitted: Int64
        /// Records how long the transfer waits for another transfer's connection. `nil` if nothing needs that.
        let wait: AttemptTrace?

        /// The handle; `nil` when the driver keeps it, because of ``CurlLibrary/waitsForLookups``.
        var easy: EasyHandle?
        let driver: CurlDriver
        /// Where the line of the head ends that libcurl is about to store; see ``mayStore(_:)``.
        var guardedEnd: UnsafeRawPointer?

        // MARK: The driver's

        /// Where it is in the driver's list of the transfers that have begun and not ended.
        var index: Int?
        var isActive: Bool { index != nil }
        /// Whether it is in the driver's list of those whose Task may be resumed.
        var isReady = false
        /// Where it is on its way.
        var place = Place.new {
            didSet {
                if oldValue.isConnecting { driver.connecting -= 1 }
                if place.isConnecting { driver.connecting += 1 }
            }
        }
        /// Whether it has room for a look-up.
        var looksUp = false
        var deadlines = Deadlines()
        var connection = Connection()
        /// The requests to its origin, among which it is.
        var queue: OriginQueue?
        /// Whether it went back to the queue once, since the connection that libcurl chose had ended.
        var wasTakenBack = false
        /// Whether the body goes into memory without asking the state machine for each piece.
        var keepsAll = false
        /// How many bytes are kept while the Task has not answered the head.
        var keptLimit = 0
        /// The decoder of the body, if libcurl does not decode it.
        var gzip: GzipDecoder?
        /// The length by which the body ends, where libcurl may not use it; see
        /// ``ResponseFraming/Verdict/length(_:)``.
        var framedLength: Int64?
        var paused: PausedDirections = []
        /// Whether receiving was ever paused.
        var hadToWait = false
        var head = HeadReader()

        // MARK: What the Task reads at the end

        var outcome: Outcome?
        var phase = TransferFailure.Phase.connect
        /// The part of the body that has been kept.
        var kept = Data()
        /// Bytes of the body that arrived, after decompression.
        var received: Int64 = 0
        /// When the driver took the transfer on; 0 if it never did.
        var began: Int64 = 0
        /// When the request was last sent.
        var sent: Int64 = 0
        /// When the first line of the response arrived, not counting informational responses; 0 before that.
        var firstByte: Int64 = 0
        var ended: Int64 = 0
        /// How often the request was sent.
        var sends = 0
        var wasReplayed = false
        /// Whether libcurl has sent it again without an expectation that the server had refused.
        var wasRepeatedUnexpecting = false
        var progress = TransferProgress()

        /// Where a transfer is on its way, and until when it has to be connected, if that time runs.
        enum Place: Equatable {
            /// The driver has not begun it.
            case new
            /// It waits among the requests to its origin, in an ``OriginQueue``.
            case inQueue
            /// libcurl has it, and has done nothing for it yet.
            case submitted(until: Int64?)
            case lookingUp(until: Int64?)
            /// A connection is made for it.
            case connecting(until: Int64?)
            /// It waits until the process has a descriptor for its connection.
            case awaitingDescriptor(until: Int64?)
            case sent
            case ended

            var connectDeadline: Int64? {
                switch self {
                case .submitted(let end), .lookingUp(let end), .connecting(let end), .awaitingDescriptor(let end): end
                case .new, .inQueue, .sent, .ended: nil
                }
            }

            var isLookingUp: Bool { if case .lookingUp = self { true } else { false } }
            var isConnecting: Bool { if case .connecting = self { true } else { false } }
            var isAwaitingDescriptor: Bool { if case .awaitingDescriptor = self { true } else { false } }
        }

        enum Outcome {
            case finished(CURLcode)
            case stopped(Cause)
        }

        /// Whether libcurl carried the transfer out to its end.
        var isWhole: Bool { if case .finished(CURLE_OK)? = outcome { true } else { false } }

        var wasAborted: Bool { if case .stopped(.aborted)? = outcome { true } else { false } }

        /// Whether the response is complete although libcurl failed because it continued over HTTP/2. libcurl 7.88
        /// tries to send the rest of a request over a stream that the server closed. If the server ended the connection
        /// after the answer, 8.22 tries to send something of its own. In that case, 7.86 may also read before it
        /// notices the end of the stream.
        func isAnswered(despite code: CURLcode) -> Bool {
            let wentOn =
                switch code {
                case CURLE_HTTP2_STREAM: easy?.message == nil
                case CURLE_SEND_ERROR, CURLE_RECV_ERROR: head.takesSeveral
                default: false
                }
            return wentOn && hasWholeResponse
        }

        /// Whether the whole response has come, by the length in its head, and has been delivered. The request may be
        /// incomplete: a server that has answered may want no more of it (RFC 9113, section 8.1).
        private var hasWholeResponse: Bool {
            guard head.isComplete, !paused.contains(.receiving), let easy else { return false }
            return easy.contentLength >= 0 && easy.contentLength == easy.received
        }

        /// Why the driver or the Task ended a transfer before libcurl did.
        enum Cause {
            /// The Task ended it: it was cancelled or has an error of its own.
            case aborted
            case connectLimit
            case idleLimit
            /// Enough of a rejected response was read.
            case drained
            /// libcurl wanted to send a request again that the server may have processed.
            case replayRefused
            case failed(any Error)

            static func failed(_ code: RequestError.Code, _ reason: String) -> Cause {
                .failed(RequestError(code, reason))
            }
        }

        /// The limits of a task in nanoseconds.
        struct Limits {
            let connect: Int64?
            let idle: Int64?
            let body: Int64?
            let ratio: Int64?
            let errorBody: Int64
            let errorBodyTime: Duration
            let keptErrorBody: Int

            init(_ limits: TransferLimits) {
                connect = limits.connect.map { max($0.nanoseconds, 0) }
                idle = limits.idle.map { max($0.nanoseconds, 0) }
                body = limits.maximumBodySize.map { Int64(max($0, 0)) }
                ratio = limits.maximumDecompressionRatio.map { Int64(max($0, 1)) }
                errorBody = Int64(max(limits.errorBodyLimit, 0))
                errorBodyTime = max(limits.errorBodyTimeLimit, .zero)
                keptErrorBody = max(limits.keptErrorBody, 0)
            }
        }

        init(
            _ task: TransportTask, _ request: CurlRequest, _ limits: TransferLimits, driver: CurlDriver,
            easy: EasyHandle, upload: (any UploadSource)?, submitted: Int64
        ) {
            self.driver = driver
            self.easy = easy
            self.limits = Limits(limits)
            self.upload = upload
            self.submitted = submitted
            wait = task.trace
            wantsProgress = task.onProgress != nil
            isForMemory = task.destination.isMemory
            let isForFile = if case .file = task.destination { true } else { false }
            usesFile = isForFile || upload is FileUpload
            url = request.url
            isSafe = request.isSafe && task.mayBeSentAgain != false
            isForHead = request.method == "HEAD"
            wantsNewConnection = task.wantsNewConnection
            isSecure = request.isSecure
            mayUseHTTP2 = driver.settings.mayUseHTTP2(isSecure: request.isSecure)
            hasName = request.hasName
        }

        /// Whether no byte of its body was sent and no byte of a response has come.
        var isUntouched: Bool { head.isUntouched && progress.bytesSent == 0 }

        /// libcurl no longer has the transfer, and it has no socket.
        func forgetConnecting() {
            connection.forgetSockets()
            phase = .connect
            deadlines.activity = driver.now
            easy?.forgetMessage()
        }

        /// Whether the server ended only an HTTP/2 stream, and not its connection.
        var endedAlone: Bool {
            // If only one stream ends, the message does not speak of the connection.
            switch outcome {
            case .finished(CURLE_HTTP2_STREAM)?, .finished(CURLE_PARTIAL_FILE)?:
                !(easy?.message.map(CurlLibrary.isAboutEndOfConnection) ?? false)
            default: false
            }
        }

        /// Ends the transfer as soon as possible.
        func abort() {
            if exchange.withLock({ $0.abort() }) { driver.call(for: self) }
        }

        /// Records why libcurl has to end the transfer, by an error or by its removal.
        func stop(_ cause: Cause) {
            if outcome == nil { outcome = .stopped(cause) }
            switch cause {
            // For a rejected response, the server may learn of the end with the next request over the connection. For a
            // refused replay, nothing was sent over the connection that libcurl wanted to use.
            case .drained, .replayRefused: break
            default: endConnectionIfAlone()
            }
        }

        /// Whether some of its body is sent after the head.
        var sendsBody: Bool { upload != nil || (progress.bytesToSend ?? 0) > 0 }

        var mayBreakOffStream: Bool {
            sends > 0 && !isWhole && mayUseHTTP2 && (head.isUntouched || head.takesSeveral)
        }

        /// Takes what was kept. The Task owns it then.
        func takeKept() -> Data {
            defer { kept = Data() }
            return kept
        }

        /// Releases the user's objects on the Task's side, after the result has been made. The driver may be the last
        /// to release the transfer itself, and it runs none of the user's code. (If a transfer was refused because the
        /// transport is shut down, the Task does not know whether the driver also has it.)
        func forgetUser() {
            gzip = nil
            upload = nil
            outcome = nil
        }
    }

    extension CurlTransfer {
        /// What is known of the connection of one transfer.
        struct Connection {
            /// The sockets that were made for it since its request was last sent. All but one are given up for another address.
            var newSockets: [Int32] = []
            /// Whether a socket was ever made for it, or since it last waited for a look-up or a descriptor.
            private(set) var hasSocket = false
            /// The connection that the request was last sent over, if that is known.
            var known: EstablishedConnection?
            /// Whether the request was last sent over a connection that was not made for it.
            var isReused = false
            /// Whether the request was first sent over a connection that may speak HTTP/2.
            var isShared = false
            /// Whether the process had no descriptor for another socket.
            var lacksDescriptor = false
            /// Whether the last socket was made for an IPv4 address.
            var isIPv4 = false
            /// An address of the host to which the transport may not connect.
            var refusedAddress: String?
            /// Why the chain of the server was refused, if it had no pin.
            var refusedChain: PinReport?
            /// Whether there was a route to an address that was tried before the last one.
            var triedReachable = false
            /// How it was lost, if we know before libcurl reports that.
            var loss: Loss?

            enum Loss {
                /// It had ended before libcurl chose it. The request was not sent.
                case beforeUse
                /// We ended it, because nothing came over it.
                case silence
            }

            /// Whether libcurl had closed the connection that the request was last sent over when the transfer ended.
            private(set) var wasClosed = false

            /// The transfer ends. The Task reads this value from now on, and the connection goes on.
            mutating func end() {
                wasClosed = known.map { $0.socket == nil } ?? false
                known = nil
            }

            mutating func opens(_ socket: Int32) {
                newSockets.append(socket)
                hasSocket = true
            }

            /// The sockets that were made for it are gone.
            mutating func forgetSockets() {
                newSockets = []
                hasSocket = false
                lacksDescriptor = false
                loss = nil
            }
        }
    }
#endif
