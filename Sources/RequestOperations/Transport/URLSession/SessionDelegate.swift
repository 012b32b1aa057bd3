#if canImport(ObjectiveC)
    import Security
#endif

extension URLSessionTransport {
    #if canImport(ObjectiveC)
        /// The delegate of a session that a ``URLSessionTransport`` uses. It sends each call to the transfer of the session
        /// task.
        ///
        /// You can make a session with one, and a transport with that session (`URLSessionTransport.init(session:)`). The
        /// delegate can have pins, and pass on some calls to another delegate (`init(forwardingTo:pins:)`). You may start your
        /// own tasks on that session. They run, but their responses go nowhere.
        public final class Delegate: NSObject {
            fileprivate let transfers = Locked<Transfers?>([:])
            let judge: SessionJudge

            /// Makes a delegate that knows no task yet.
            ///
            /// It judges server certificates by pins. It passes calls that it does not use to another delegate: challenges
            /// about certificates, metrics, new tasks, and waits for connectivity. (Only on Apple's platforms, where the
            /// tests of this package do not run.)
            ///
            /// - Parameters:
            ///   - delegate: The other delegate, by a weak reference. `nil` by default.
            ///   - pins: Pins for hosts, as in ``TrustPolicy/pins``. Empty by default. They count for all connections of the
            ///     session. If a server has none of the pins for its host, the request fails as
            ///     ``RequestError/Code/pinningFailed``.
            public init(forwardingTo delegate: (any URLSessionTaskDelegate)?, pins: [HostPins] = []) {
                judge = SessionJudge(forwardingTo: delegate, pins: pins)
                super.init()
            }

            /// Makes a delegate for tasks of a session with another delegate, which is asked for credentials as well.
            init(inPlaceOf delegate: (any URLSessionDelegate)?) {
                judge = SessionJudge(forwardingTo: delegate, pins: [], passesOnCredentials: true)
                super.init()
            }

            /// Makes a delegate that knows no task yet.
            public override convenience init() {
                self.init(forwardingTo: nil)
            }
        }
    #else
        final class Delegate: NSObject {
            fileprivate let transfers = Locked<Transfers?>([:])
        }
    #endif

    /// The transfers of tasks; `nil` when the session has been invalidated. A task is identified by its object, not by its
    /// number. So one delegate can serve several sessions.
    fileprivate typealias Transfers = [ObjectIdentifier: SessionTransfer]
}

extension URLSessionTransport.Delegate: URLSessionDataDelegate {
    /// Assigns a task of a session to a transfer. Called before the task is resumed.
    func add(_ transfer: SessionTransfer, for task: URLSessionTask, of session: URLSession) {
        #if canImport(Darwin)
            if session.delegate !== self { task.delegate = self }
        #endif
        transfers.withLock { $0?[ObjectIdentifier(task)] = transfer }
    }

    /// Whether the session has been invalidated. No task can be made on it then.
    var isInvalidated: Bool { transfers.withLock { $0 == nil } }

    private func transfer(for task: URLSessionTask) -> SessionTransfer? {
        transfers.withLock { $0?[ObjectIdentifier(task)] }
    }

    // MARK: URLSessionDataDelegate

    /// Receives the head of a response.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(for: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    /// Receives a piece of the body.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(for: dataTask)?.receive(data)
    }

    /// Notes that a piece of the request's body has been sent.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(for: task)?.sent(totalBytesSent)
    }

    /// Ends the transfer of the task.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0?.removeValue(forKey: ObjectIdentifier(task)) }
        transfer?.complete(error, response: task.response)
    }

    /// Refuses a redirect. The operation follows it.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let transfer = transfer(for: task) {
            transfer.refuseRedirect(completionHandler)
        } else {
            completionHandler(nil)
        }
    }

    /// Answers a challenge. A 401 is delivered as a normal response. On Linux, Foundation decides about the trust of a
    /// server. On Apple's platforms the pins do, then the other delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(ObjectiveC)
            guard challenge.asksForCredentials, !judge.passesOnCredentials else {
                return judge.answer(challenge, session, task, transfer(for: task), completionHandler)
            }
        #else
            // On this platform the whole response has arrived by now. Refusing the challenge cancels the task.
            transfer(for: task)?.finish(.whole)
        #endif
        completionHandler(.rejectProtectionSpace, nil)
    }

    /// Answers that there is no new body stream: Foundation is about to send a body again.
    ///
    /// Foundation does not know of any body that is sent twice here. So on Linux this call means that a kept
    /// connection was dead. The request would go out without its body.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            transfer(for: task)?.finish(.deadConnection)
        #endif
        completionHandler(nil)
    }

    /// Ends all open transfers: the session cannot be used any more.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let abandoned = transfers.withLock { transfers in
            defer { transfers = nil }
            return transfers ?? [:]
        }
        for transfer in abandoned.values { transfer.complete(error ?? URLError(.cancelled), response: nil) }
    }
}

#if canImport(ObjectiveC)
    /// Judges the certificates of servers by pins, and passes calls that our delegate does not use to another delegate.
    // Unchecked: the reference is never set again, and the runtime clears it safely.
    final class SessionJudge: @unchecked Sendable {
        private weak var next: (any URLSessionDelegate)?
        private let pins: [HostPins]
        /// Whether the other delegate is asked for names and passwords as well.
        let passesOnCredentials: Bool

        init(forwardingTo next: (any URLSessionDelegate)?, pins: [HostPins], passesOnCredentials: Bool = false) {
            self.next = next
            self.pins = pins
            self.passesOnCredentials = passesOnCredentials
        }

        /// Answers a challenge, normally about a certificate: of the server, or of this program.
        func answer(
            _ challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
            _ transfer: SessionTransfer?,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            // Pins are for servers, not for HTTPS proxies on the way.
            if !pins.isEmpty, !space.isProxy(), let trust = space.serverTrust {
                // A chain that is not verified fails by itself. The other delegate must not accept it: pins are for chains.
                guard SecTrustEvaluateWithError(trust, nil) else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                let verdict = PinCheck(pins).verdict(
                    on: Self.chain(of: trust), of: space.host, port: space.port, at: Date())
                for message in verdict.reports { message.handler(message.report) }
                if let failure = verdict.failure {
                    let error = RequestError(.pinningFailed, failure.reason)
                    transfer?.finish(.failed(error, phase: .connect))
                    return completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
            forward(challenge, session, task, completionHandler)
        }

        /// Asks the other delegate as URLSession does. Its method of the session, if it has one, answers what concerns the
        /// session. Its method of the task answers the rest.
        private func forward(
            _ challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let ofSession = #selector((any URLSessionDelegate).urlSession(_:didReceive:completionHandler:))
            let ofTask = #selector((any URLSessionTaskDelegate).urlSession(_:task:didReceive:completionHandler:))
            if let next, challenge.concernsSession, next.responds(to: ofSession) {
                next.urlSession?(session, didReceive: challenge, completionHandler: completionHandler)
            } else if let next = delegate, next.responds(to: ofTask) {
                next.urlSession?(session, task: task, didReceive: challenge, completionHandler: completionHandler)
            } else {
                completionHandler(.performDefaultHandling, nil)
            }
        }

        private static func chain(of trust: SecTrust) -> [PinCheck.Certificate] {
            let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return certificates.compactMap { PinCheck.Certificate(der: SecCertificateCopyData($0) as Data) }
        }

        /// The other delegate if it gets calls about tasks.
        fileprivate var delegate: (any URLSessionTaskDelegate)? { next as? any URLSessionTaskDelegate }
    }

    extension URLSessionTransport.Delegate {
        /// Passes on the metrics of a task.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            judge.delegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
        }

        /// Passes on that a task waits for connectivity.
        public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            judge.delegate?.urlSession?(session, taskIsWaitingForConnectivity: task)
        }

        /// Passes on that a task was made.
        public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            judge.delegate?.urlSession?(session, didCreateTask: task)
        }
    }

    extension URLAuthenticationChallenge {
        /// Whether the challenge asks for a name and a password. The other kinds ask about a certificate.
        fileprivate var asksForCredentials: Bool {
            switch protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate: false
            default: true
            }
        }

        /// Whether the challenge is one of the kinds that URLSession asks the delegate of the session about.
        fileprivate var concernsSession: Bool {
            [
                NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
                NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
            ].contains(protectionSpace.authenticationMethod)
        }
    }
#endif

#if canImport(FoundationNetworking)
    /// The delegate queue of a session of ours: a serial Dispatch queue with the interface that URLSession asks for.
    ///
    /// On Linux, Foundation adds a block to the session's `OperationQueue` for each call of a delegate. The smallest
    /// response takes three blocks. An operation for each block costs more than all the work of our delegate. Our
    /// delegate does not need priorities, dependencies or cancellation of operations.
    // Unchecked, like its superclass. It adds only the queue, which is a constant.
    final class DeliveryQueue: OperationQueue, @unchecked Sendable {
        private let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport.delivery", qos: .userInitiated)

        override init() {
            super.init()
            // This tells Foundation that the queue is serial.
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif

extension OperationQueue {
    /// The delegate queue for a session of ours. With `nil`, URLSession makes one itself.
    static var forDelivery: OperationQueue? {
        #if canImport(FoundationNetworking)
            DeliveryQueue()
        #else
            nil
        #endif
    }
}
