/// A session task with a completion handler, on a session whose delegate is not ours.
///
/// The response arrives as a whole, when it has ended. Foundation must not handle redirects and challenges itself. The
/// transport gets them through a delegate of this task alone. The session's delegate is still asked for credentials and
/// about the trust of servers.
final class HandlerTask: NSObject, URLSessionTaskDelegate {
    private let transfer: Transfer
    private let session: URLSession

    private init(_ transfer: Transfer, _ session: URLSession) {
        self.transfer = transfer
        self.session = session
    }

    /// Makes the task of a transfer.
    ///
    /// - Parameters:
    ///   - session: The session that makes it.
    ///   - owner: The caller's session, whose delegate is asked for credentials.
    static func make(
        _ request: URLRequest, _ body: PreparedBody, on session: URLSession, of owner: URLSession,
        for transfer: Transfer
    ) -> URLSessionTask {
        let completion: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, response, error in
            if error == nil, let response {
                transfer.receive(response)
                if let data { transfer.receive(data) }
            }
            transfer.complete(error, response: response)
        }
        let task: URLSessionTask =
            switch body {
            case .none: session.dataTask(with: request, completionHandler: completion)
            case .data(let data) where data.isEmpty:
                session.dataTask(with: request, completionHandler: completion)
            case .data(let data):
                session.uploadTask(with: request, from: data, completionHandler: completion)
            case .file(let url, let length):
                session.uploadTask(with: request, from: url, length: length, completionHandler: completion)
            case .spooled(let file, let length):
                session.uploadTask(with: request, from: file.url, length: length, completionHandler: completion)
            }
        task.delegate = HandlerTask(transfer, owner)
        return task
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transfer.refuseRedirect(completionHandler)
    }

    #if canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let transfer = transfer
            // Without credentials, Foundation would neither deliver the 401 nor time out. We cannot get its body here.
            let reject: @Sendable () -> Void = {
                if let response = challenge.failureResponse { transfer.receive(response) }
                transfer.completeUnauthorized()
                completionHandler(.rejectProtectionSpace, nil)
            }
            guard let delegate = self.session.delegate as? any URLSessionTaskDelegate else { return reject() }
            delegate.urlSession(self.session, task: task, didReceive: challenge) { disposition, credential in
                guard disposition == .useCredential, let credential else { return reject() }
                completionHandler(.useCredential, credential)
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            transfer.finish(.deadConnection)
            completionHandler(nil)
        }

        /// A malformed `data:` URL fails here, with or without a completion handler.
        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            transfer.complete(error, response: task.response)
        }
    #endif
}
