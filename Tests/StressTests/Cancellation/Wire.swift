import RequestOperations
import RequestOperationsTesting

/// What carries the requests of a scene.
enum Wire: String, CaseIterable, Sendable {
    case scripted
    /// The default of the platform: `CurlTransport` on Linux.
    case platform
    case urlSession

    /// Makes the place where the requests of one scene go.
    func site(for point: CancellationCell.Point) async throws -> any Site {
        switch self {
        case .scripted: ScriptedSite(point)
        case .platform: try await LoopbackSite(point, PlatformTransport.shared)
        case .urlSession: try await LoopbackSite(point, URLSessionTransport.shared)
        }
    }
}

/// Where the requests of one scene go, and the log of what arrived there.
protocol Site: Sendable {
    var transport: any Transport { get }

    func url(_ path: String) -> URL

    /// The paths that were requested so far, in order.
    var requestedPaths: [String] { get }

    /// Returns when so many requests have arrived.
    func requests(atLeast count: Int) async throws

    /// When the site saw the end of the first connection, which its client must have made; waits for it. `nil` where there
    /// are none.
    func firstConnectionEnded() async throws -> ContinuousClock.Instant?
}

struct ScriptedSite: Site {
    private let script: ScriptedTransport

    init(_ point: CancellationCell.Point) {
        script = ScriptedTransport([
            .dynamic { request in
                switch (request.url?.path, point) {
                case ("/occupant", _), ("/work", .inFlight): .stall
                case ("/work", .body): .stallBody()
                case ("/work", .decision), ("/work", .wait): .status(503)
                default: .body(Data("body".utf8))
                }
            }
        ])
    }

    var transport: any Transport { script }

    func url(_ path: String) -> URL {
        // Every path of a scene makes a URL.
        URL(string: "http://example.invalid\(path)")!
    }

    var requestedPaths: [String] { script.requests.map { $0.url?.path ?? "" } }

    func requests(atLeast count: Int) async {
        await script.requests(atLeast: count)
    }

    func firstConnectionEnded() -> ContinuousClock.Instant? { nil }
}

/// A server of the scene's own: all that stands in its log is the scene's.
struct LoopbackSite: Site {
    let transport: any Transport
    private let server: LoopbackServer

    private struct WrongEnd: Error {
        let record: LoopbackServer.ConnectionRecord
    }

    init(_ point: CancellationCell.Point, _ transport: any Transport) async throws {
        self.transport = transport
        server = try await LoopbackServer.start { request in
            switch (request.path, point) {
            case ("/occupant", _), ("/work", .inFlight): .stall
            case ("/work", .body), ("/work", .consumer): .stallBody(after: 1000, of: 2000)
            case ("/work", .decision), ("/work", .wait): .status(503)
            default: .text("body")
            }
        }
    }

    func url(_ path: String) -> URL { server.url(path) }

    var requestedPaths: [String] { server.requests.map(\.path) }

    func requests(atLeast count: Int) async throws {
        try await server.requests(atLeast: count)
    }

    func firstConnectionEnded() async throws -> ContinuousClock.Instant? {
        let record = try await server.connectionsClosed(atLeast: 1)[0]
        guard record.end == .closedByPeer || record.end == .resetByPeer else { throw WrongEnd(record: record) }
        return record.endInstant
    }
}
