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
/// It uses real sockets, so it shows what a scripted transport cannot show:
///
/// - that a cancel reached the wire
/// - how many connections were used, and how they ended
/// - what a reset, a truncated body or a stalled one does to a client
///
/// ``Response`` lists all the faults that it can produce. ``requests`` and ``connections`` hold everything that
/// happened. ``requests(atLeast:timeout:)`` and ``connectionsClosed(atLeast:timeout:)`` wait for it without polling.
///
/// Each connection has its own thread. It stays open until its client, a response or ``stop()`` ends it. The server can
/// hold a thousand connections at a time. Every response notices the end of its client within milliseconds, even while
/// it waits or stalls.
///
/// HTTP/1.1 keep-alive, pipelining, chunked and counted bodies, and `Expect: 100-continue` work. A malformed request
/// gets an error, and its connection ends:
///
/// - 431 if its head, or what follows a chunked body, is longer than 64 KiB
/// - 501 for a transfer coding other than `chunked`
/// - 505 for a version other than HTTP/1
/// - 400 for anything else
///
/// A malformed request is not logged, unless only its body is malformed. Then it is logged with
/// ``Request/isBodyComplete`` set to `false`.
///
/// The server stops when the last reference to it is released. A handler that needs the server must hold it weakly.
public final class LoopbackServer: Sendable {
    /// The port, on 127.0.0.1.
    public let port: Int

    let core: ServerCore
    private let listeners: [Socket]
    /// `stop` shuts this down, which wakes the accepting thread.
    private let alarm: Socket

    /// Starts a server. It accepts connections when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on. By default the kernel chooses one. You can start a server on the port of a
    ///     stopped server, to simulate a host that comes back.
    ///   - includingIPv6: Whether it also listens on `::1`, at the same port. False by default.
    ///   - keptBodyLimit: The longest request body that is kept, in bytes. 1 MiB by default. For a longer body, only
    ///     the count and the checksum are kept.
    ///   - logLimit: How many requests, and how many ended connections, the log holds. It keeps the last ones, for a
    ///     server that runs for long. All by default. A negative limit traps. The waits count everything that happened.
    ///   - handler: Answers the requests that have no route. By default they get 404. Called on the thread of the
    ///     connection, at the same time for several connections. It may block.
    /// - Throws: A description of the system call that failed, for instance because the port is taken or invalid.
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

    /// Closes every connection and the port. When it returns, new connections are refused. A second call has no effect.
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
    /// It adds a missing first slash, and percent-encodes characters that cannot stand in a URL. It traps if the text
    /// still makes no URL.
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

    /// ASCII without spaces, control characters and the characters that no part of a URL may have (RFC 3986). A `%`
    /// begins an existing encoding.
    private static let graphic = CharacterSet(charactersIn: "!"..."~").subtracting(
        CharacterSet(charactersIn: "\"<>\\^`{|}"))

    // MARK: Answers

    /// Sets the responses of a path, and replaces earlier ones.
    ///
    /// The first request gets the first response, and so on. The last response is then repeated.
    ///
    /// A path with a query matches the whole target. A path without a query matches every query. Both are compared in
    /// their percent-encoded form on the wire. This function encodes characters that cannot stand in a URL. The method
    /// does not matter. A response is chosen when the head of the request has arrived.
    public func route(_ path: String, _ responses: Response...) {
        route(path, responses)
    }

    /// Sets the responses of a path, as `route(_:_:)` does. An empty list traps.
    public func route(_ path: String, _ responses: [Response]) {
        core.update { $0.route(Self.encoded(path), responses) }
    }

    /// Replaces the handler that answers the requests without a route. See `start`.
    public func respond(_ handler: @escaping @Sendable (Request) -> Response) {
        core.update { $0.respond(handler) }
    }

    // MARK: What happened

    /// The requests in the order in which they were complete.
    ///
    /// A request is added before the first byte of its answer is sent. A request whose body broke off is included, with
    /// ``Request/isBodyComplete`` set to `false`.
    public var requests: [Request] {
        core.update(\.requests)
    }

    /// The connections in the order in which they were accepted, both open and ended.
    public var connections: [ConnectionRecord] {
        core.update(\.connections)
    }

    /// The number of connections that have not ended.
    public var openConnectionCount: Int {
        core.update(\.openConnectionCount)
    }

    /// The largest number of requests that were being answered at the same time.
    ///
    /// A request counts from the end of its head until the last bytes of its response are sent.
    public var maximumConcurrentRequests: Int {
        core.update(\.maximumConcurrentRequests)
    }

    // MARK: Waiting

    /// Why a wait ended early.
    public enum WaitError: Error {
        /// The time was over.
        case timedOut
        /// The server was stopped, so the awaited event will never come.
        case serverStopped
    }

    /// Waits until at least `count` requests have arrived. Returns all requests that the log holds.
    ///
    /// - Parameters:
    ///   - count: How many requests. Those that arrived before the call count too.
    ///   - timeout: How long to wait at most. One minute by default.
    /// - Throws: `WaitError`, or `CancellationError` when the task is cancelled.
    @discardableResult
    public func requests(atLeast count: Int, timeout: Duration = .seconds(60)) async throws -> [Request] {
        try await wait(for: .requests(count), timeout: timeout)
        return requests
    }

    /// Waits until at least `count` connections have ended, at either side. Returns the ended connections in the log.
    ///
    /// - Parameters:
    ///   - count: How many connections. Those that ended before the call count too.
    ///   - timeout: How long to wait at most. One minute by default.
    /// - Throws: `WaitError`, or `CancellationError` when the task is cancelled.
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
