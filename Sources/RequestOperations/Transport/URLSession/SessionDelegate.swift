extension URLSessionTransport {
    /// The delegate of a session that a ``URLSessionTransport`` uses.
    ///
    /// It sends each call to the transfer of the session task. On Apple's platforms it can pass on some calls to another
    /// delegate (`init(forwardingTo:pins:)`); otherwise it passes on none. If you make a session with one, you control the
    /// session yourself, and the transport can use all of its features with it:
    ///
    /// ```swift
    /// let session = URLSession(
    ///     configuration: configuration, delegate: URLSessionTransport.Delegate(), delegateQueue: nil)
    /// let transport = URLSessionTransport(session: session)
    /// ```
    ///
    /// You may start your own tasks on that session. They run, but their responses go nowhere.
    public final class Delegate: NSObject, URLSessionDataDelegate {
        /// A task is identified by its object, not by its number. So one delegate can serve several sessions.
        private enum Routes {
            case open([ObjectIdentifier: Transfer])
            case invalidated
        }

        private let routes = Locked(Routes.open([:]))

        #if canImport(ObjectiveC)
            let judge: SessionJudge

            /// Makes a delegate that knows no task yet.
            ///
            /// It judges server certificates by pins. It passes on what it does not use to another delegate: challenges about
            /// certificates, metrics, new tasks, and waits for connectivity. (Only on Apple's platforms, where the tests of
            /// this package do not run.)
            ///
            /// - Parameters:
            ///   - delegate: The other delegate. It is held weakly. `nil` by default.
            ///   - pins: Pins for hosts, as in ``TrustPolicy/pins``. Empty by default. They count for all connections of the
            ///     session. A server without one fails the request as ``RequestError/Code/pinningFailed``.
            public init(forwardingTo delegate: (any URLSessionTaskDelegate)?, pins: [HostPins] = []) {
                judge = SessionJudge(forwardingTo: delegate, pins: pins)
                super.init()
            }

            /// Makes a delegate that knows no task yet.
            public override convenience init() {
                self.init(forwardingTo: nil)
            }
        #else
            /// Makes a delegate that knows no task yet.
            public override init() {
                super.init()
            }
        #endif

        /// Assigns a task to a transfer. Called before the task is resumed.
        func add(_ transfer: Transfer, for task: URLSessionTask) {
            routes.withLock { routes in
                guard case .open(var transfers) = routes else { return }
                routes = .invalidated  // Frees the table's only other reference, so that it is changed in place.
                transfers[ObjectIdentifier(task)] = transfer
                routes = .open(transfers)
            }
        }

        /// Whether the session has been invalidated. No task can be made on it then.
        var isInvalidated: Bool {
            routes.withLock { if case .invalidated = $0 { true } else { false } }
        }

        func transfer(for task: URLSessionTask) -> Transfer? {
            routes.withLock { routes in
                if case .open(let transfers) = routes { transfers[ObjectIdentifier(task)] } else { nil }
            }
        }

        private func removeTransfer(for task: URLSessionTask) -> Transfer? {
            routes.withLock { routes in
                guard case .open(var transfers) = routes else { return nil }
                routes = .invalidated
                let transfer = transfers.removeValue(forKey: ObjectIdentifier(task))
                routes = .open(transfers)
                return transfer
            }
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
            removeTransfer(for: task)?.complete(error, response: task.response)
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
                guard challenge.asksForCredentials else {
                    return judge.answer(challenge, session, task, transfer(for: task), completionHandler)
                }
            #else
                // On this platform the whole response has arrived by now. Refusing the challenge cancels the task.
                transfer(for: task)?.completeUnauthorized()
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
            let abandoned: [Transfer] = routes.withLock { routes in
                guard case .open(let transfers) = routes else { return [] }
                routes = .invalidated
                return Array(transfers.values)
            }
            for transfer in abandoned { transfer.complete(error ?? URLError(.cancelled), response: nil) }
        }
    }
}

#if canImport(ObjectiveC)
    extension URLAuthenticationChallenge {
        /// Whether the challenge asks for a name and a password. The other kinds ask about a certificate.
        fileprivate var asksForCredentials: Bool {
            switch protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate: false
            default: true
            }
        }
    }
#endif
