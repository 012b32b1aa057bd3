import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

/// AsyncHTTPClient's `execute`, one Task for each request.
final class AsyncHTTPClientClient: LoadClient {
    private let client: HTTPClient

    init(_ order: LoadOrder) throws {
        client = try .configured(trusting: order.authority)
    }

    func start(_ requests: [LoadRequest]) {
        for request in requests { Task { await client.get(request) {} } }
    }
}

/// AsyncHTTPClient's `execute` in a bare asynchronous operation, on an `OperationQueue`.
final class AsyncHTTPClientOperationClient: LoadClient {
    // Unchecked as its superclass is: its own state never changes.
    private final class ClientOperation: BareOperation, @unchecked Sendable {
        private let client: HTTPClient
        private let request: LoadRequest

        init(_ client: HTTPClient, _ request: LoadRequest) {
            self.client = client
            self.request = request
        }

        override func begin() {
            Task { await client.get(request) { self.finish() } }
        }
    }

    private let client: HTTPClient
    private let queue = OperationQueue()

    init(_ order: LoadOrder) throws {
        client = try .configured(trusting: order.authority)
        queue.maxConcurrentOperationCount = order.inFlight
    }

    func start(_ requests: [LoadRequest]) {
        queue.addOperations(requests.map { ClientOperation(client, $0) }, waitUntilFinished: false)
    }

    func settle() {
        queue.waitUntilAllOperationsAreFinished()
    }
}

extension HTTPClient {
    /// A client that opens as many connections as there are requests in flight, as the others do; its default is 8.
    static func configured(trusting authority: String?) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Makes one request of a load, and ends it after the given closure was called.
    fileprivate func get(_ request: LoadRequest, finished: @Sendable () -> Void) async {
        do {
            var message = HTTPClientRequest(url: request.address)
            message.headers = sentFields
            let response = try await execute(message, timeout: .seconds(60))
            guard response.version.major == request.majorVersion else {
                throw BenchmarkError("the version is \(response.version)")
            }
            let body = try await response.body.collect(upTo: 64 << 20)
            finished()
            if request.needsData {
                request.end(status: Int(response.status.code), Data(buffer: body))
            } else {
                body.withUnsafeReadableBytes { request.end(status: Int(response.status.code), $0) }
            }
        } catch {
            finished()
            request.end(error)
        }
    }
}

/// What the other clients send; libcurl adds the last by itself.
private let sentFields = HTTPHeaders(LoadOrder.fields + [("Accept", "*/*")])
