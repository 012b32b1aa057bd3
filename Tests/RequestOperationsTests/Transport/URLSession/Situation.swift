import Foundation
import RequestOperations
import RequestOperationsTesting

/// The ways in which a transport can come to a session. A caller's session is for Apple's platforms only.
enum Situation: CaseIterable {
    /// A session of the transport's own.
    case own
    #if canImport(Darwin)
        /// A caller's session with our delegate.
        case ourDelegate
        /// A caller's session with a delegate of its own.
        case foreignDelegate
        /// A caller's session without a delegate.
        case noDelegate
    #endif

    var transport: URLSessionTransport {
        switch self {
        case .own: URLSessionTransport()
        #if canImport(Darwin)
            case .ourDelegate: URLSessionTransport(session: session(URLSessionTransport.Delegate()))
            case .foreignDelegate: URLSessionTransport(session: session(ForeignDelegate()))
            case .noDelegate: URLSessionTransport(session: session(nil))
        #endif
        }
    }

    #if canImport(Darwin)
        private func session(_ delegate: (any URLSessionDelegate)?) -> URLSession {
            URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        }
    #endif
}

#if canImport(Darwin)
    /// A delegate such as a caller has, which wants to follow redirects and counts what it hears.
    final class ForeignDelegate: NSObject, URLSessionDataDelegate {
        let calls = Collector<String>()
        private let credential: URLCredential?

        init(credential: URLCredential? = nil) {
            self.credential = credential
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            calls.append("redirect")
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            calls.append("response")
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            calls.append("data")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            calls.append("complete")
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            calls.append("challenge")
            if challenge.previousFailureCount == 0, let credential {
                completionHandler(.useCredential, credential)
            } else {
                completionHandler(.performDefaultHandling, nil)
            }
        }
    }
#endif

extension TransferFailure {
    fileprivate var wasForgottenByFoundation: Bool {
        TransportUnderTest.foundationForgetsTransfers && head == nil && (error as? RequestError)?.code == .timedOut
    }
}

/// Thrown to reject a head.
struct Rejected: Error {}

extension LoopbackServer {
    /// The body of `LoopbackServer.Response.large(byteCount:)`.
    static func pattern(_ count: Int) -> Data {
        let period = Data(0..<251)
        var pattern = Data(capacity: count + period.count)
        while pattern.count < count { pattern.append(period) }
        return pattern.prefix(count)
    }

    func request(_ path: String = "/", method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url(path))
        request.httpMethod = method
        return request
    }
}

extension URLSessionTransport {
    func code(of task: TransportTask) async -> RequestError.Code? {
        (await failure(of: task)?.error as? RequestError)?.code
    }

    /// Performs a task, and once more if nothing was heard of it, as Foundation leaves one in some ten thousand on Linux.
    func perform(_ task: TransportTask) async throws -> TransportResponse {
        do {
            return try await perform(task) { _ in }
        } catch let failure as TransferFailure where failure.wasForgottenByFoundation {
            return try await perform(task) { _ in }
        }
    }
}
