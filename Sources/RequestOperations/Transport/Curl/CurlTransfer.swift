#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One transfer: what the driver thread keeps of it while it runs, and what the Task reads when it has ended.
    // Unchecked: `exchange` is a lock. The constants are set before the transfer is submitted. The variables are touched by
    // the driver thread from the submission until `TransferMachine.end()`, and by the Task alone after it has taken notice;
    // but `place`, `origin`, `isInLine`, `isReady`, `canWait`, `stand` and `name` are the driver's for ever.
    final class CurlTransfer: @unchecked Sendable {
        let exchange = Locked(TransferMachine())
        let url: URL
        let limits: Limits
        /// Whether the request may be sent a second time without asking anybody.
        let isSafe: Bool
        let isForHead: Bool
        /// Whether it goes over a connection that is made for it, or for others that want one as well.
        let wantsNewConnection: Bool
        let isSecure: Bool
        let lookupName: String?
        /// Scheme, host and port of its URL.
        private(set) lazy var origin = Origin(url)
        /// The body, until the Task has made the result.
        private(set) var upload: (any UploadSource)?
        let wantsProgress: Bool
        /// Whether the whole body is kept; otherwise it goes on elsewhere.
        let isForMemory: Bool
        /// Whether it needs a descriptor for a file beside that of its connection.
        let usesFile: Bool
        /// When `perform` was called.
        let submitted: Int64
        /// Takes note how long it waits for a connection of others, if somebody wants to know.
        let wait: ConnectionWait?

        /// The handle; `nil` when the driver keeps it since it could not be taken off a look-up.
        var easy: EasyHandle?
        let driver: CurlDriver

        // MARK: The driver's

        /// Where the driver has the transfer.
        enum Place {
            case nowhere
            /// At the desk for look-ups.
            case held
            /// At an index of the driver's list: in libcurl's hands, or held back while a connection is made.
            case active(Int)
        }
        var place = Place.nowhere
        /// Whether it is in the driver's list: in libcurl's hands, or held back while a connection is made.
        var isActive: Bool { if case .active = place { true } else { false } }
        /// Whether it is in the driver's list of those whose Task may be resumed.
        var isReady = false
        /// Whether it is there for a head alone, which can wait for what follows.
        var canWait = false
        var deadlines = TransferDeadlines()
        var isLookingUp = false
        /// Whether a socket was made for it; behind a proxy there may be a look-up even then.
        var hasSocket = false
        /// The socket that was made for it, if it was one alone.
        var onlySocket: Int32?
        /// The port of its connection on our side.
        var localPort: Int32 = 0
        /// Whether a socket was made for it since it was last sent.
        var hasFreshSocket = false
        /// Whether it was last sent over a connection that had not been made for it.
        var reusedConnection = false
        /// Whether it makes connections, or uses those of others alone.
        var mayConnect: Bool
        /// Whether it makes one now that others are to use.
        var makesConnection = false
        /// Whether libcurl has found no connection for it, or does not have it since one is being made.
        var isTurnedBack = false
        /// Whether it was not sent, since libcurl would have sent it over a connection that has ended.
        var meetsEndedConnection = false
        /// Whether its connection was ended since nothing came over it, of which libcurl has still to tell.
        var lostSilentConnection = false
        /// Whether a socket was made for it since it was last sent, where ``HandleSettings/hidesConnections(isSecure:)``.
        var hasNewSocket = false
        /// Whether it is the first over its connection, and unanswered.
        var awaitsFirstResponse = false
        /// Whether it was first sent over a connection that may take other requests at the same time.
        var sharesConnection = false
        /// Whether it was given to libcurl to use a connection that was answered.
        var triesAnswered = false
        /// Whether its driver keeps it, since the process has no descriptor for its connection now.
        var lacksDescriptor = false
        /// Whether the last socket was made for an address of IPv4.
        var isIPv4 = false
        /// Whether there was a route to an address that was tried before the last one.
        var triedReachable = false
        /// Where it stands with its name, at the desk for look-ups.
        var stand = LookupDesk.Stand.none
        var name: LookupDesk.Name?
        /// Whether it is in the line of those that wait for a connection, where it may stay for a while after its end.
        var isInLine = false
        /// Whether the body goes into memory without asking for each piece.
        var keepsAll = false
        /// How much is kept while the head is unanswered.
        var keptLimit = 0
        /// The length that the head declares for a body that is not compressed, or -1.
        var declaredLength: Int64 = -1
        /// What decodes the body, where that is not libcurl.
        var gzip: GzipDecoder?
        /// The length by which the body ends, where libcurl may not go by it; ``ResponseFraming/Verdict/length(_:isCoded:)``.
        var framedLength: Int64?
        var isReceivingPaused = false
        var wasReceivingPaused = false
        var isSendingPaused = false
        /// The socket that libcurl reads from for it, where ``CurlLibrary/needsReadSockets``.
        var readsFrom: Int32?
        /// Whether a receive buffer may have been full, where ``CurlLibrary/overlooksInput``.
        var mayFillBuffers = false
        /// Asked for at every line of a head, by the one thread that may: unchecked, since a check costs as much as the line.
        @exclusivity(unchecked) var head = HeadReader()

        // MARK: What the Task reads at the end

        var outcome: Outcome?
        var phase = TransferFailure.Phase.connect
        /// What has been kept of the body.
        var kept: ReceiveBuffer?
        /// Bytes of the body that arrived, after decompression.
        var received: Int64 = 0
        /// When libcurl was given it; 0 if it never was.
        var began: Int64 = 0
        /// When the request was last sent.
        var sent: Int64 = 0
        /// When the first line of the response arrived, after informational ones; 0 before.
        var firstByte: Int64 = 0
        var ended: Int64 = 0
        /// How often the request was sent.
        var sends = 0
        var wasReplayed = false
        var progress = TransferProgress()

        /// How a transfer ended.
        enum Outcome {
            case finished(CURLcode)
            case stopped(Cause)
        }

        /// Whether libcurl carried the transfer out to its end.
        var isWhole: Bool { if case .finished(CURLE_OK)? = outcome { true } else { false } }

        /// Whether the response is there though libcurl failed, since it went on over HTTP/2: to send the rest of a request over
        /// a stream that the server closed (7.88), or, over a connection that the server ended after the answer, to send
        /// something of its own (8.22) or to read before it noticed the end of the stream (7.86).
        func isAnswered(despite code: CURLcode) -> Bool {
            let wentOn =
                switch code {
                case CURLE_HTTP2_STREAM: easy?.message == nil
                case CURLE_SEND_ERROR, CURLE_RECV_ERROR: head.takesSeveral
                default: false
                }
            return wentOn && hasWholeResponse
        }

        /// Whether the response has come whole, by the length that its head tells, and been delivered. The request need not have
        /// gone whole for that: a server that has answered may want no more of it (RFC 9113, section 8.1).
        private var hasWholeResponse: Bool {
            guard head.isComplete, !isReceivingPaused, let easy else { return false }
            let length = rocurl_content_length(easy.pointer)
            return length >= 0 && length == rocurl_received(easy.pointer)
        }

        /// Why we ended a transfer ourselves.
        enum Cause {
            /// By the Task: it was cancelled or has an error of its own.
            case aborted
            case connectLimit
            case idleLimit
            case bodyTooLarge
            case headTooLarge
            case headMalformed(String)
            /// The body is not in the coding that the head names.
            case contentBroken(String)
            /// Enough was read of a rejected response.
            case drained
            case sourceFailed(any Error)
            case sinkFailed(any Error)
            /// libcurl wanted to send a request again that may have been processed.
            case replayRefused
            case shutDown
            /// The system has no thread, no descriptor or no memory left.
            case shortage(String)
        }

        /// The limits of a task in nanoseconds.
        struct Limits {
            let connect: Int64?
            let idle: Int64?
            let body: Int64?
            let errorBody: Int64
            let errorBodyTime: Duration
            let keptErrorBody: Int

            init(_ limits: TransferLimits) {
                connect = limits.connect.map { max($0.nanoseconds, 0) }
                idle = limits.idle.map { max($0.nanoseconds, 0) }
                body = limits.maximumBodySize.map { Int64(max($0, 0)) }
                errorBody = Int64(max(limits.errorBodyLimit, 0))
                errorBodyTime = max(limits.errorBodyTimeLimit, .zero)
                keptErrorBody = max(limits.keptErrorBody, 0)
            }
        }

        init(
            driver: CurlDriver, easy: EasyHandle, request: CurlRequest, limits: Limits, upload: (any UploadSource)?,
            mayBeSentAgain: Bool = true, wantsNewConnection: Bool = false,
            wantsProgress: Bool, isForMemory: Bool = true, usesFile: Bool = false, submitted: Int64,
            wait: ConnectionWait? = nil
        ) {
            self.driver = driver
            self.easy = easy
            self.limits = limits
            self.upload = upload
            self.wantsProgress = wantsProgress
            self.isForMemory = isForMemory
            self.usesFile = usesFile
            self.submitted = submitted
            self.wait = wait
            url = request.url
            isSafe = request.isSafe && mayBeSentAgain
            isForHead = request.method == "HEAD"
            self.wantsNewConnection = wantsNewConnection
            isSecure = request.isSecure
            lookupName = request.lookupName
            mayConnect = !driver.settings.makesConnectionsApart(isSecure: request.isSecure)
        }

        /// Whether its connection may speak HTTP/2.
        var mayUseHTTP2: Bool { driver.settings.mayUseHTTP2(isSecure: isSecure) }

        /// Whether its connection may take other requests at the same time.
        var mayShareConnection: Bool { driver.settings.mayMultiplex(isSecure: isSecure) }

        /// Calls the driver's attention to the transfer.
        func callDriver() {
            driver.call(for: self)
        }

        /// Ends the transfer as soon as possible.
        func abort() {
            if exchange.withLock({ $0.abort() }) { callDriver() }
        }

        /// Takes note why libcurl is to end the transfer, with an error or since it is taken away.
        func stop(_ cause: Cause) {
            if outcome == nil { outcome = .stopped(cause) }
            switch cause {
            // Of a rejection the server may as well hear with the next request over the connection; over that on which libcurl
            // wanted to send it again, nothing was sent.
            case .drained, .replayRefused: break
            default: endConnectionIfAlone()
            }
        }

        /// The transfer is taken away: has the server hear of that by the end of the connection, where it would not hear of the
        /// stream. (Of one that others use, they send the reset.)
        func endConnectionIfAlone() {
            if CurlLibrary.holdsBackResets, mayBreakOffStream { easy?.keepConnection(false) }
        }

        /// Whether something of its body goes after the head.
        var sendsBody: Bool { upload != nil || (progress.bytesToSend ?? 0) > 0 }

        /// Whether its end breaks off what may be a stream of HTTP/2.
        var mayBreakOffStream: Bool {
            sends > 0 && !isWhole && mayUseHTTP2 && (head.isUntouched || head.takesSeveral)
        }

        /// Lets go of what is the user's, on the Task's side, when the result has been made: the driver may be the last to let go
        /// of the transfer itself, and runs none of the user's code. (Of one that was refused since the transport is shut down,
        /// the Task does not know whether the driver has it as well.)
        func forgetUser() {
            gzip = nil
            upload = nil
            outcome = nil
        }

        /// The directions that libcurl is to hold, as `curl_easy_pause` wants them.
        var pauseMask: Int32 {
            (isReceivingPaused ? CURLPAUSE_RECV : 0) | (isSendingPaused ? CURLPAUSE_SEND : 0)
        }
    }
#endif
