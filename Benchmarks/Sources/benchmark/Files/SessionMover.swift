import Foundation
import FoundationNetworking
import Synchronization

/// URLSession's download and upload tasks.
final class SessionMover: FileMover {
    private let session = URLSession.configuredLikeTransport()

    func download(_ page: String, to file: URL) throws -> Double? {
        try wait { end in
            session.downloadTask(with: request(page, "GET")) { downloaded, response, error in
                end(
                    Result {
                        guard let downloaded, response?.isSuccess == true else { throw failure(error, response) }
                        try FileManager.default.moveItem(at: downloaded, to: file)
                    })
            }
        }
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        try wait { end in
            session.uploadTask(with: request(page, "PUT"), fromFile: file) { _, response, error in
                end(Result { if response?.isSuccess != true { throw failure(error, response) } })
            }
        }
    }

    private func request(_ page: String, _ method: String) -> URLRequest {
        // The catalogue makes no other than good URLs. The limit is beyond what the slowest client takes.
        var request = URLRequest(url: URL(string: page)!, timeoutInterval: 600)
        request.httpMethod = method
        return request
    }

    private func wait(_ makeTask: (@escaping @Sendable (Result<Void, any Error>) -> Void) -> URLSessionTask) throws
        -> Double?
    {
        let isDone = DispatchSemaphore(value: 0)
        let outcome = Mutex(Result<Void, any Error>?.none)
        let task = makeTask { result in
            outcome.withLock { $0 = result }
            isDone.signal()
        }
        task.resume()
        isDone.wait()
        try outcome.withLock { $0 }?.get()
        return nil
    }
}

private func failure(_ error: (any Error)?, _ response: URLResponse?) -> any Error {
    error ?? BenchmarkError("URLSession: \(String(describing: response))")
}

extension URLResponse {
    fileprivate var isSuccess: Bool {
        (200..<300).contains((self as? HTTPURLResponse)?.statusCode ?? 0)
    }
}
