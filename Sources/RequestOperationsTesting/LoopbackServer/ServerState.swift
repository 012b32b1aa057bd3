import Foundation

/// What one server knows, as a pure state machine. Events go in, and actions for the caller come out.
struct ServerState: Sendable {
    typealias Handler = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    typealias Waiter = CheckedContinuation<Void, any Error>

    /// Where the response to a request comes from.
    enum Answer: Sendable {
        case response(LoopbackServer.Response)
        case handler(Handler)
    }

    /// What a test waits for.
    enum Milestone: Sendable {
        case requests(Int)
        case connectionsClosed(Int)
    }

    /// The responses of one route. Each is given once, and the last one is repeated.
    private struct Script {
        private var responses: ArraySlice<LoopbackServer.Response>

        init(_ responses: [LoopbackServer.Response]) {
            precondition(!responses.isEmpty, "A route needs at least one response.")
            self.responses = responses[...]
        }

        mutating func next() -> LoopbackServer.Response {
            // Never empty: `init` requires at least one response, and the last one stays.
            responses.count > 1 ? responses.removeFirst() : responses.first!
        }
    }

    private var requestLog: BoundedLog<LoopbackServer.Request>
    /// The connections by number: all open ones, and those that the log of ended connections may still name.
    private var records: [Int: LoopbackServer.ConnectionRecord] = [:]
    private var endedConnections: BoundedLog<Int>
    private var connectionCount = 0
    private(set) var maximumConcurrentRequests = 0
    private var isStopped = false
    private var routes: [String: Script] = [:]
    private var handler: Handler?
    /// The sockets that a thread still serves, by connection number.
    private var sockets: [Int: Socket] = [:]
    /// The connections in the middle of a request.
    private var busyConnections: Set<Int> = []
    private var waiters: [UUID: (milestone: Milestone, waiter: Waiter)] = [:]

    /// - Parameter logLimit: How many requests, and how many ended connections, the log keeps.
    init(handler: Handler?, logLimit: Int) {
        self.handler = handler
        requestLog = BoundedLog(limit: logLimit)
        endedConnections = BoundedLog(limit: logLimit)
    }

    var requests: [LoopbackServer.Request] { requestLog.elements }

    var connections: [LoopbackServer.ConnectionRecord] {
        let ended = Set(endedConnections.elements)
        return records.values.filter { $0.end == nil || ended.contains($0.id) }.sorted { $0.id < $1.id }
    }

    var openConnectionCount: Int { connectionCount - endedConnections.count }

    // MARK: Answers

    mutating func route(_ target: String, _ responses: [LoopbackServer.Response]) {
        routes[target] = Script(responses)
    }

    mutating func respond(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Takes the next answer to a request on a connection. `nil` if the server is stopped.
    ///
    /// A stopped server has forgotten its routes and must not answer 404.
    mutating func requestBegan(target: String, on connection: Int) -> Answer? {
        guard !isStopped else { return nil }
        busyConnections.insert(connection)
        maximumConcurrentRequests = max(maximumConcurrentRequests, busyConnections.count)
        return nextAnswer(for: target)
    }

    /// Takes the next answer of the script of the target's route.
    mutating func nextAnswer(for target: String) -> Answer {
        let pathAndQuery = String(RequestHead.pathAndQuery(of: target))
        for key in [pathAndQuery, String(pathAndQuery.prefix { $0 != "?" })] {
            if let response = routes[key]?.next() { return .response(response) }
        }
        if let handler { return .handler(handler) }
        return .response(.status(404))
    }

    // MARK: Events

    /// A connection was accepted. Returns its number, or nil if the server is stopped.
    mutating func connectionOpened(_ socket: Socket) -> Int? {
        guard !isStopped else { return nil }
        connectionCount += 1
        records[connectionCount] = LoopbackServer.ConnectionRecord(id: connectionCount)
        sockets[connectionCount] = socket
        return connectionCount
    }

    mutating func transferred(received: Int, sent: Int, on connection: Int) {
        records[connection]?.bytesReceived += received
        records[connection]?.bytesSent += sent
    }

    mutating func requestArrived(_ request: LoopbackServer.Request) -> [Waiter] {
        _ = requestLog.append(request)
        return reached()
    }

    /// The response is complete except for its last bytes, which are sent next. A client that reacts to those bytes
    /// must not find its connection still counted as busy.
    mutating func responseEnds(on connection: Int) {
        records[connection]?.requestsServed += 1
        busyConnections.remove(connection)
    }

    mutating func connectionEnded(
        _ connection: Int, _ end: LoopbackServer.ConnectionRecord.End, at instant: ContinuousClock.Instant
    ) -> [Waiter] {
        busyConnections.remove(connection)
        guard let record = records[connection], record.end == nil else { return [] }
        records[connection]?.end = end
        records[connection]?.endInstant = instant
        for forgotten in endedConnections.append(connection) { records[forgotten] = nil }
        return reached()
    }

    /// The thread of a connection is done with its socket.
    mutating func connectionReleased(_ connection: Int) {
        sockets[connection] = nil
    }

    /// Ends everything. Returns the sockets to shut down, the waiters whose milestone was reached, and the waiters
    /// whose milestone will never come.
    mutating func stop(
        at instant: ContinuousClock.Instant
    ) -> (sockets: [Socket], reached: [Waiter], abandoned: [Waiter]) {
        guard !isStopped else { return ([], [], []) }
        isStopped = true
        // Closures may hold the server, and the server holds this state. We break that cycle.
        routes = [:]
        handler = nil
        var resumed: [Waiter] = []
        for connection in connections where connection.end == nil {
            resumed += connectionEnded(connection.id, .closedByServer, at: instant)
        }
        let abandoned = waiters.values.map(\.waiter)
        waiters = [:]
        return (Array(sockets.values), resumed, abandoned)
    }

    // MARK: Waiting

    /// Registers a waiter. If it need not wait, returns the result to resume it with.
    mutating func wait(for milestone: Milestone, as id: UUID, _ waiter: Waiter) -> Result<Void, any Error>? {
        if hasReached(milestone) { return .success(()) }
        if isStopped { return .failure(LoopbackServer.WaitError.serverStopped) }
        waiters[id] = (milestone, waiter)
        return nil
    }

    mutating func cancelWait(_ id: UUID) -> Waiter? {
        waiters.removeValue(forKey: id)?.waiter
    }

    private func hasReached(_ milestone: Milestone) -> Bool {
        switch milestone {
        case .requests(let count): requestLog.count >= count
        case .connectionsClosed(let count): endedConnections.count >= count
        }
    }

    private mutating func reached() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        let met = waiters.filter { hasReached($0.value.milestone) }
        for id in met.keys { waiters[id] = nil }
        return met.values.map(\.waiter)
    }
}
