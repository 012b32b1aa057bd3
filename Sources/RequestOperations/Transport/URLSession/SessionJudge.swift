#if canImport(ObjectiveC)
    import Security

    /// Judges the certificates of servers by pins, and passes on to another delegate what ours does not use.
    // Unchecked: the reference is never set again, and the runtime clears it safely.
    final class SessionJudge: @unchecked Sendable {
        private weak var next: (any URLSessionTaskDelegate)?
        private let pins: [HostPins]

        init(forwardingTo next: (any URLSessionTaskDelegate)?, pins: [HostPins]) {
            self.next = next
            self.pins = pins
        }

        /// Answers a challenge about a certificate: of the server, or of this program.
        func answer(
            _ challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
            _ transfer: Transfer?,
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
                    let error = RequestError(.pinningFailed, stage: .transfer, reason: failure.reason)
                    transfer?.finish(.failed(error, phase: .connect))
                    return completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
            forward(challenge, session, task, completionHandler)
        }

        /// Asks the other delegate in the order of URLSession: its method of the session, if it has one, then that of the task.
        private func forward(
            _ challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let ofSession = #selector((any URLSessionDelegate).urlSession(_:didReceive:completionHandler:))
            let ofTask = #selector((any URLSessionTaskDelegate).urlSession(_:task:didReceive:completionHandler:))
            if let next, next.responds(to: ofSession) {
                next.urlSession?(session, didReceive: challenge, completionHandler: completionHandler)
            } else if let next, next.responds(to: ofTask) {
                next.urlSession?(session, task: task, didReceive: challenge, completionHandler: completionHandler)
            } else {
                completionHandler(.performDefaultHandling, nil)
            }
        }

        private static func chain(of trust: SecTrust) -> [PinCheck.Certificate] {
            let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return certificates.compactMap { PinCheck.Certificate(der: SecCertificateCopyData($0) as Data) }
        }

        /// The delegate that the rest is passed on to.
        fileprivate var delegate: (any URLSessionTaskDelegate)? { next }
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
#endif
