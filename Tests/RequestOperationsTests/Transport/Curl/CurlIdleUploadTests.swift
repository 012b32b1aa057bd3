#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What of an upload counts as idle.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlIdleUploadTests {
        private static let length = 250_000

        private func task(_ peer: PythonPeer) throws -> TransportTask {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(peer.port)/")))
            request.httpMethod = "PUT"
            var task = TransportTask.upload(request, from: .data(Data(count: Self.length)))
            task.limits.idle = .seconds(2)
            return task
        }

        @Test func `An upload that the server receives slowly is not idle`() async throws {
            try await oneOfFiveTries {
                let peer = try await PythonPeer(running: .slowReceiver, ["\(Self.length)", "\(Self.length)"])
                let response = try await CurlTransport.with { _ in }.perform(task(peer)) { _ in }
                #expect(response.head.status == 200)
            }
        }

        @Test func `An upload of which the server receives no more is idle`() async throws {
            let peer = try await PythonPeer(running: .slowReceiver, ["\(Self.length)", "50000"])
            let row = await CurlTransport.with { _ in }.row(try task(peer))
            #expect(row.code == .timedOut)
        }
    }
#endif
