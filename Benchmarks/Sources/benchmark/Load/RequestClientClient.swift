import Foundation
import RequestOperations

/// `RequestClient.get`, one Task for each request.
final class RequestClientClient: LoadClient {
    private let client: RequestClient
    /// What comes before the number of a request in its path.
    private let path: String

    init(_ order: LoadOrder) {
        let end = order.url.lastIndex(of: "/") ?? order.url.startIndex
        // The catalogue makes no other than good ones.
        client = RequestClient(baseURL: URL(string: String(order.url[...end]))!)
        path = String(order.url[order.url.index(after: end)...])
    }

    func start(_ requests: [LoadRequest]) {
        for request in requests {
            Task {
                do {
                    request.end(status: 200, try await client.get("\(path)\(request.number)", as: Data.self))
                } catch {
                    request.end(error)
                }
            }
        }
    }
}
