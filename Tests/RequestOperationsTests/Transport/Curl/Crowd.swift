#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// Requests over a driver of their own, of which its thread takes notice in this order and in a single turn.
    struct Crowd {
        private let driver: CurlDriver
        private let tasks: [Task<TransportResponse, any Error>]

        init(
            _ urls: [URL], lookupBound: Int? = nil,
            _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) throws {
            let driver = CurlDriver(CurlTransport.with(change).configuration)
            if let lookupBound { driver.lookups = Lookups(bound: lookupBound) }
            let flows = try urls.map { try CurlTransferTask(to: $0, over: driver) }
            driver.inbox.withLock { inbox in
                for flow in flows { _ = inbox.add(flow.transfer, isNew: true) }
            }
            driver.start()
            self.driver = driver
            tasks = flows.map { flow in Task { try await flow.run() } }
        }

        func response(_ index: Int) async throws -> TransportResponse {
            try await tasks[index].value
        }

        func body(_ index: Int) async throws -> Data {
            try await response(index).body
        }

        /// One more request, of which the thread takes notice later.
        func add(_ url: URL) throws -> Task<TransportResponse, any Error> {
            let flow = try CurlTransferTask(to: url, over: driver)
            driver.call(for: flow.transfer, isNew: true)
            return Task { try await flow.run() }
        }

        func cancel(_ index: Int) {
            tasks[index].cancel()
        }

        /// Fails what has not been answered.
        func end() async {
            await driver.shutDown(.failing)
            for task in tasks { _ = await task.result }
        }
    }

    extension CurlTransferTask {
        /// A GET over a driver, with longer for its connection than a busy machine may take to cancel one.
        init(to url: URL, over driver: CurlDriver) throws {
            var task = TransportTask(URLRequest(url: url))
            task.limits.connect = .seconds(300)
            try self.init(task, driver: driver, submitted: CurlLibrary.now, onHead: { _ in })
        }
    }

    extension CurlTransfer {
        /// A GET to a host, or a host and port, that no thread has taken yet.
        static func to(_ host: String, over driver: CurlDriver) throws -> CurlTransfer {
            try CurlTransferTask(to: try #require(URL(string: "http://\(host)/")), over: driver).transfer
        }
    }
#endif
