import Foundation
import RequestOperationsTesting
import Synchronization

/// A server that answers most requests, and does something wrong to the others: it resets, stalls, truncates, drips,
/// refuses, and now and then is gone altogether for a moment.
final class FaultyServer: Sendable {
    /// How long one server lives, before it comes back on the same port. (It also forgets its log so.)
    private static let life = 20.0
    /// How long it is gone.
    private static let absence = 0.2

    /// The ways to it with their URLs, of which every path is answered as it likes.
    let sites: [SoakSite]
    private let port: Int
    private let current: Mutex<LoopbackServer?>
    /// Cut the connections to nginx, which passes requests on.
    private let relays: [CuttingRelay]
    private let queue = DispatchQueue(label: "FaultyServer")

    /// Starts it behind a server with TLS and HTTP/2.
    init(behind nginx: Nginx) throws {
        port = nginx.faultyPort
        current = Mutex(try Self.start(port: port))
        let secure: [Nginx.Scheme] = [.tls, .http2]
        relays = try secure.map { try CuttingRelay(to: nginx.port($0)) }
        sites =
            [SoakSite(scheme: .plain, url: "http://127.0.0.1:\(port)/any")]
            + zip(secure, relays).map { SoakSite(scheme: $0, url: "https://127.0.0.1:\($1.port)/faulty/any") }
        scheduleRestart()
    }

    /// Ends it.
    func stop() {
        for relay in relays { relay.stop() }
        queue.sync {
            current.withLock { server in
                server?.stop()
                server = nil
            }
        }
    }

    private func scheduleRestart() {
        queue.asyncAfter(deadline: .now() + Self.life) { [weak self] in self?.restart() }
    }

    private func restart() {
        guard let old = current.withLock({ $0 }) else { return }
        old.stop()
        Thread.sleep(forTimeInterval: Self.absence)
        do {
            let server = try Self.start(port: port)
            current.withLock { $0 = server }
            scheduleRestart()
        } catch {
            // Every request fails from here on, which the soak then reports; this says why.
            FileHandle.standardError.write(Data("the faulty server did not come back: \(error)\n".utf8))
        }
    }

    private static func start(port: Int) throws -> LoopbackServer {
        let started = Mutex(Result<LoopbackServer, any Error>?.none)
        let isStarted = DispatchSemaphore(value: 0)
        Task {
            let result: Result<LoopbackServer, any Error>
            do {
                result = .success(
                    try await LoopbackServer.start(port: port) { _ in response(to: .random(in: 0..<200)) })
            } catch {
                result = .failure(error)
            }
            started.withLock { $0 = result }
            isStarted.signal()
        }
        // On the main thread or the queue of this server, neither of which is one of the cooperative pool.
        isStarted.wait()
        return try started.withLock { $0 }.get(orThrow: BenchmarkError("no server"))
    }

    private static let small = Data.pattern(1 << 10)
    private static let medium = Data.pattern(100 << 10)

    /// Nine of ten requests are answered well.
    private static func response(to lot: Int) -> LoopbackServer.Response {
        switch lot {
        case 0..<3: .reset
        case 3..<5: .resetBody(after: 3000, of: 100_000)
        case 5..<8: .truncated(declared: 100_000, sending: 5000)
        case 8: .truncatedChunked
        case 9..<11: .closeWithoutAnswer
        case 11: .stall
        case 12: .stallBody(after: 2000, of: 100_000)
        case 13..<15: .drip(small, chunk: 256, every: .milliseconds(20))
        case 15..<18: .status(503, body: small)
        case 18: .closing(.body(small))
        case 19: .delayed(.milliseconds(50), then: .body(small))
        case 20..<50: .body(medium)
        default: .body(small)
        }
    }
}

extension Optional {
    /// The value of a result, or the error if there is no result yet.
    fileprivate func get<Value>(orThrow error: any Error) throws -> Value where Wrapped == Result<Value, any Error> {
        guard let self else { throw error }
        return try self.get()
    }
}
