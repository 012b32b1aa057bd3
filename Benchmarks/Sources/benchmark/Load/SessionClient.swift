import Foundation
import FoundationNetworking

/// URLSession's data tasks with completion handlers.
final class SessionClient: LoadClient {
    private let session: URLSession

    init(_ order: LoadOrder) {
        session = .configuredLikeTransport()
    }

    func start(_ requests: [LoadRequest]) {
        for request in requests { session.get(request) {} }
    }
}

/// A bare asynchronous operation for each of URLSession's data tasks, on an `OperationQueue`.
final class SessionOperationClient: LoadClient {
    // Unchecked as its superclass is: its own state never changes.
    private final class SessionOperation: BareOperation, @unchecked Sendable {
        private let session: URLSession
        private let request: LoadRequest

        init(_ session: URLSession, _ request: LoadRequest) {
            self.session = session
            self.request = request
        }

        override func begin() {
            session.get(request) { self.finish() }
        }
    }

    private let session: URLSession
    private let queue = OperationQueue()

    init(_ order: LoadOrder) {
        session = .configuredLikeTransport()
        queue.maxConcurrentOperationCount = order.inFlight
    }

    func start(_ requests: [LoadRequest]) {
        queue.addOperations(requests.map { SessionOperation(session, $0) }, waitUntilFinished: false)
    }

    func settle() {
        queue.waitUntilAllOperationsAreFinished()
    }
}

extension URLSession {
    /// A session configured as that of `URLSessionTransport` is: it keeps nothing and opens as many connections as needed.
    static func configuredLikeTransport() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = 256
        return URLSession(configuration: configuration)
    }

    /// Makes one request of a load, and ends it after the given closure was called.
    fileprivate func get(_ request: LoadRequest, finished: @escaping @Sendable () -> Void) {
        let task = dataTask(with: URLRequest(url: request.url)) { body, response, error in
            finished()
            if let body, let response = response as? HTTPURLResponse, error == nil {
                request.end(status: response.statusCode, body)
            } else {
                request.end(error ?? BenchmarkError("no response"))
            }
        }
        task.resume()
    }
}
