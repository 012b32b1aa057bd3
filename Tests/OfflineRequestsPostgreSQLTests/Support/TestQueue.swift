#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// A queue of its own on the server, with a script of answers. Each opening is a sender of its own.
    struct TestQueue {
        let name = "test-\(UUID().uuidString)"
        let transport: ScriptedTransport
        /// The address of the database. The server's default by default.
        let address: String

        init(_ answers: [ScriptedTransport.Answer] = [.status(204)], address: String = "") {
            transport = ScriptedTransport(answers)
            self.address = address
        }

        var configuration: OfflineConfiguration {
            var configuration = OfflineConfiguration()
            configuration.request.transport = transport
            configuration.request.networkPath = NetworkPath(.reachable(.wifi))
            configuration.backoff = .constant(.milliseconds(10))
            return configuration
        }

        var options: PostgreSQLOptions {
            var options = PostgreSQLOptions()
            options.migrates = true
            return options
        }

        func open(
            options edit: (inout PostgreSQLOptions) -> Void = { _ in },
            configuration editConfiguration: (inout OfflineConfiguration) -> Void = { _ in }
        ) async throws -> OfflineRequestQueue {
            var (options, configuration) = (options, configuration)
            edit(&options)
            editConfiguration(&configuration)
            let settings = try settings(options)
            let storage = OfflineStorage(place: UUID().uuidString) { [options] opening in
                try await PostgreSQLStore.open(opening, settings, options)
            }
            return try await OfflineRequestQueue.open(name: name, store: storage, configuration: configuration)
        }

        /// A store without a sender.
        func store(
            options edit: (inout PostgreSQLOptions) -> Void = { _ in },
            configuration editConfiguration: (inout OfflineConfiguration) -> Void = { _ in }
        ) async throws -> PostgreSQLStore {
            var (options, configuration) = (options, configuration)
            edit(&options)
            editConfiguration(&configuration)
            let opening = OfflineStorage.Opening(name: name, configuration: configuration) { _ in }
            return try await PostgreSQLStore.open(opening, settings(options), options)
        }

        private func settings(_ options: PostgreSQLOptions) throws -> PostgreSQLSettings {
            var settings = try TestServer.settings(address)
            settings.preparesStatements = options.preparesStatements
            settings.statementTimeout = options.statementTimeout
            return settings
        }

        /// The last parts of the paths of the requests that were sent.
        var sent: [String] { transport.requests.compactMap { $0.url?.lastPathComponent } }
    }

    /// A POST to a path of a host that does not exist.
    func post(_ path: String, body: String? = nil, host: String = "a.example") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://\(host)/\(path)")))
        request.httpMethod = "POST"
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    /// A record with a request of a path.
    func newRecord(
        _ path: String, lane: String = "", key: String? = nil, rule: UniqueRule = .append, body: String? = nil,
        host: String = "a.example"
    ) -> NewRecord {
        let data = body.map { Data($0.utf8) }
        return NewRecord(
            content: StoredContent(
                method: "POST", url: URL(string: "https://\(host)/\(path)"), fields: ["X-Field": "ä\"\\"],
                constraints: ["reachable"], idempotencyKey: UUID().uuidString),
            body: data.map(StoredBody.data) ?? .none, bodySize: Int64(data?.count ?? 0), lane: lane, uniqueKey: key,
            rule: rule, priority: 0)
    }

    /// What a claim of everything asks.
    func claimRequest(
        _ limit: Int = 100, delivering: Set<OfflineRecord.ID> = [], lease: Duration = .seconds(15)
    ) -> ClaimRequest {
        ClaimRequest(
            limit: limit, perOrigin: limit, placesTaken: [:], leaseDuration: lease, isOnline: true, handlers: [],
            met: ["reachable"], longestShortWait: .seconds(5), isWanted: { true }, delivering: delivering)
    }

    extension Claim {
        /// The lease and the records, if there are any.
        var claimed: (lease: Lease, records: [StoredRecord])? {
            if case .claimed(let lease, let records) = answer { (lease, records) } else { nil }
        }
    }

    extension AddResult {
        var id: OfflineRecord.ID? {
            switch self {
            case .added(let id, _), .kept(let id): id
            case .conflict: nil
            }
        }
    }
#endif
