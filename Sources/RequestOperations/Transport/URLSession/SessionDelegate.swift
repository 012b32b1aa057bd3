extension URLSessionTransport {
    /// The delegate of a session that a ``URLSessionTransport`` uses: it routes what it hears to the transfer of the
    /// session task, and never forwards anything.
    ///
    /// Make a session with one to have the session in your own hands and the whole of what the transport can do with it:
    ///
    /// ```swift
    /// let session = URLSession(configuration: configuration, delegate: URLSessionTransport.Delegate(), delegateQueue: nil)
    /// let transport = URLSessionTransport(session: session)
    /// ```
    ///
    /// Tasks that you start yourself on that session run, but nobody hears of their responses.
    public final class Delegate: NSObject, URLSessionDataDelegate {
        /// A task is known by its identity, not by its number, so that one delegate may serve several sessions.
        private enum Routes {
            case open([ObjectIdentifier: Transfer])
            case invalidated
        }

        private let routes = Locked(Routes.open([:]))

        /// Makes a delegate that knows no task yet.
        public override init() {
            super.init()
        }

        /// Routes a task to a transfer; called before the task is resumed.
        func add(_ transfer: Transfer, for task: URLSessionTask) {
            routes.withLock { routes in
                guard case .open(var transfers) = routes else { return }
                routes = .invalidated  // Frees the table's only other reference, so that it is changed in place.
                transfers[ObjectIdentifier(task)] = transfer
                routes = .open(transfers)
            }
        }

        /// Whether the session has been invalidated: no task can be made on it any more.
        var isInvalidated: Bool {
            routes.withLock { if case .invalidated = $0 { true } else { false } }
        }

        private func transfer(for task: URLSessionTask) -> Transfer? {
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

        /// The head of a response.
        public func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            transfer(for: dataTask)?.receive(response)
            completionHandler(.allow)
        }

        /// A piece of the body.
        public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            transfer(for: dataTask)?.receive(data)
        }

        /// A piece of the request's body has been sent.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            transfer(for: task)?.sent(totalBytesSent)
        }

        /// The task is done.
        public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            removeTransfer(for: task)?.complete(error, response: task.response)
        }

        /// A redirect, which is refused: the operation follows it.
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

        /// A challenge: a 401 is delivered as the response that it is; the trust of a server is Foundation's matter.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.asksForCredentials else { return completionHandler(.performDefaultHandling, nil) }
            #if canImport(FoundationNetworking)
                // Here the response has arrived whole, and refusing the challenge cancels the task.
                transfer(for: task)?.completeUnauthorized()
            #endif
            completionHandler(.rejectProtectionSpace, nil)
        }

        /// Foundation is about to send a body again. Nothing that it knows of is sent twice here, so on Linux this says that a
        /// kept connection was dead, and that the request would go out without its body.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            #if canImport(FoundationNetworking)
                transfer(for: task)?.finish(.deadConnection)
            #endif
            completionHandler(nil)
        }

        /// The session cannot be used any more.
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

extension URLAuthenticationChallenge {
    /// Whether a name and a password are wanted, as opposed to a judgement of the server's certificate.
    var asksForCredentials: Bool {
        #if canImport(FoundationNetworking)
            true
        #else
            switch protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate: false
            default: true
            }
        #endif
    }
}
