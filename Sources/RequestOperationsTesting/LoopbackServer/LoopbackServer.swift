public import Foundation

/// A real HTTP/1.1 server in this process, on the loopback interface, for tests and demonstrations.
///
/// ```swift
/// let server = try await LoopbackServer.start()
/// server.route("/users", .status(503), .json(#"[{"name": "Ada"}]"#))    // the last one answers from then on
/// // … the code under test requests server.url("/users") …
/// let requests = try await server.requests(atLeast: 2)
/// ```
///
/// It speaks over real sockets, so it shows what no scripted transport can:
///
/// - that a cancel reached the wire
/// - how many connections were used, and how they ended
/// - what a reset, a truncated body or a stalled one does to a client
///
/// ``Response`` lists all that it can do wrong. Everything that happened is in ``requests`` and ``connections``.
/// ``requests(atLeast:timeout:)`` and ``connectionsClosed(atLeast:timeout:)`` wait for it without polling.
///
/// Each connection has a thread of its own. It stays open until its client, a response or ``stop()`` ends it. The server
/// can hold a thousand connections at a time. Every response sees the end of its client within milliseconds, also while it
/// waits or stalls.
///
/// HTTP/1.1 keep-alive, pipelining, chunked and counted bodies, and `Expect: 100-continue` work. A malformed request gets
/// an error and the end of the connection:
///
/// - 431 if its head, or what follows a chunked body, is longer than 64 KiB
/// - 501 for a transfer coding other than `chunked`
/// - 505 for a version other than HTTP/1
/// - 400 for anything else
///
/// A malformed request is not logged, unless only its body is malformed. Then it is logged with ``Request/isBodyComplete``
/// `false`.
///
/// The server is stopped when the last reference to it goes. A handler that needs the server must hold it weakly.
public final class LoopbackServer: Sendable {
    /// The port, on 127.0.0.1.
    public let port: Int

    let core: ServerCore
    private let listeners: [Socket]
    /// Shut down by `stop`, which wakes the thread that accepts.
    private let alarm: Socket

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; by default one that the kernel chooses. A server can be started again on the port
    ///     of one that was stopped, as a host that comes back.
    ///   - includingIPv6: Whether it listens on `::1` as well, at the same port. False by default.
    ///   - keptBodyLimit: The longest request body that is kept, in bytes; by default 1 MiB. Of a longer one the count
    ///     and the checksum are kept.
    ///   - logLimit: How many requests, and how many ended connections, the log holds; of more the last ones, for a server
    ///     that runs for long. All by default; a negative one is a programmer's error. The waits count all that happened.
    ///   - handler: Answers the requests that have no route; by default these get 404. Called on the thread of the
    ///     connection, at the same time for several connections; it may block.
    /// - Throws: A description of the system call that failed, for instance when the port is taken or is none.
    public static func start(
        port: Int = 0, includingIPv6: Bool = false, keptBodyLimit: Int = 1 << 20, logLimit: Int = .max,
        handler: (@Sendable (Request) -> Response)? = nil
    ) async throws -> LoopbackServer {
        precondition(logLimit >= 0, "A log cannot hold less than nothing.")
        let core = ServerCore(handler: handler, keptBodyLimit: keptBodyLimit, logLimit: logLimit)
        let server = try LoopbackServer(port: port, includingIPv6: includingIPv6, core: core)
        return server
    }

    private init(port: Int, includingIPv6: Bool, core: ServerCore) throws {
        let listener = try Socket.listening(on: .ipv4, port: port)
        self.port = listener.port
        self.core = core
        listeners = try [listener] + (includingIPv6 ? [Socket.listening(on: .ipv6, port: listener.port)] : [])
        let (alarm, woken) = try Socket.pair()
        self.alarm = alarm
        let acceptor = Acceptor(listeners: listeners, alarm: woken, core: core)
        guard DetachedThread.start({ acceptor.run() }) else { throw SocketError(call: "pthread_create", errno: EAGAIN) }
    }

    deinit {
        stop()
    }

    /// Closes every connection and the port. New connections are refused when this returns. Has no effect the second time.
    public func stop() {
        for listener in listeners { listener.shutDown() }
        alarm.shutDown()
        core.stop()
    }

    // MARK: Addresses

    /// `http://127.0.0.1:` and the port.
    public var url: URL {
        url("")
    }

    /// The URL of a path, which may have a query: `url("/users?page=2")`.
    ///
    /// A missing first slash is added, and characters that cannot stand in a URL are percent-encoded. A text that is no
    /// part of a URL even then is a programmer's error.
    public func url(_ path: String) -> URL {
        let slash = path.isEmpty || path.hasPrefix("/") ? "" : "/"
        guard let url = URL(string: "http://127.0.0.1:\(port)\(slash)\(Self.encoded(path))") else {
            preconditionFailure("\(path) cannot be the path of a URL.")
        }
        return url
    }

    private static func encoded(_ path: String) -> String {
        // Every string can be encoded: it is valid Unicode.
        path.addingPercentEncoding(withAllowedCharacters: graphic) ?? path
    }

    /// ASCII without space, controls and what no part of a URL may have (RFC 3986); `%` begins an encoding that is there.
    private static let graphic = CharacterSet(charactersIn: "!"..."~").subtracting(
        CharacterSet(charactersIn: "\"<>\\^`{|}"))

    // MARK: Answers

    /// Gives a path its responses, in turn: the first request gets the first, and the last one answers from then on. They
    /// replace what the path had before.
    ///
    /// A path with a query matches the whole target. A path without one matches every query. Both are compared as they
    /// stand on the wire, percent-encoded. This function encodes characters that cannot stand in a URL. The method does
    /// not matter. A response is drawn when the head of the request is there.
    public func route(_ path: String, _ responses: Response...) {
        route(path, responses)
    }

    /// Gives a path its responses, in turn, as `route(_:_:)` does. An empty list traps.
    public func route(_ path: String, _ responses: [Response]) {
        core.update { $0.route(Self.encoded(path), responses) }
    }

    /// Replaces the handler that answers the requests without a route; see `start`.
    public func respond(_ handler: @escaping @Sendable (Request) -> Response) {
        core.update { $0.respond(handler) }
    }

    // MARK: What happened

    /// The requests in the order in which they were complete. A request is here before the first byte of its answer is
    /// sent. A request whose body broke off is here too, with ``Request/isBodyComplete`` `false`.
    public var requests: [Request] {
        core.update(\.requests)
    }

    /// The connections in the order in which they were accepted, open and ended ones.
    public var connections: [ConnectionRecord] {
        core.update(\.connections)
    }

    /// The number of connections that have not ended.
    public var openConnectionCount: Int {
        core.update(\.openConnectionCount)
    }

    /// The largest number of requests that were being answered at one time. A request counts from the end of its head
    /// until the last bytes of its response are sent.
    public var maximumConcurrentRequests: Int {
        core.update(\.maximumConcurrentRequests)
    }

    // MARK: Waiting

    /// Why a wait ended without what was waited for.
    public enum WaitError: Error {
        /// The time was over.
        case timedOut
        /// The server was stopped, so it will never come.
        case serverStopped
    }

    /// Waits until at least so many requests have arrived, and returns all of them that the log holds.
    ///
    /// - Parameters:
    ///   - count: How many; those that arrived before the call count.
    ///   - timeout: How long to wait at most; by default one minute.
    /// - Throws: `WaitError`; `CancellationError` when the task is cancelled.
    @discardableResult
    public func requests(atLeast count: Int, timeout: Duration = .seconds(60)) async throws -> [Request] {
        try await wait(for: .requests(count), timeout: timeout)
        return requests
    }

    /// Waits until at least so many connections have ended, at either side, and returns those of them in the log.
    ///
    /// - Parameters:
    ///   - count: How many; those that ended before the call count.
    ///   - timeout: How long to wait at most; by default one minute.
    /// - Throws: `WaitError`; `CancellationError` when the task is cancelled.
    @discardableResult
    public func connectionsClosed(
        atLeast count: Int, timeout: Duration = .seconds(60)
    ) async throws -> [ConnectionRecord] {
        try await wait(for: .connectionsClosed(count), timeout: timeout)
        return connections.filter { $0.end != nil }
    }

    private func wait(for milestone: ServerState.Milestone, timeout: Duration) async throws {
        let core = core
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.wait(for: milestone) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw WaitError.timedOut
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
