import Foundation

/// What one server knows, as a pure state machine: events go in, and what is to be done comes out.
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

    /// The responses of one route: each is given once, the last one again and again.
    private struct Script {
        private var responses: ArraySlice<LoopbackServer.Response>

        init(_ responses: [LoopbackServer.Response]) {
            precondition(!responses.isEmpty, "A route needs at least one response.")
            self.responses = responses[...]
        }

        mutating func next() -> LoopbackServer.Response {
            // Never empty: `init` demands one, and the last one stays.
            responses.count > 1 ? responses.removeFirst() : responses.first!
        }
    }

    private(set) var requests: [LoopbackServer.Request] = []
    private(set) var connections: [LoopbackServer.ConnectionRecord] = []
    private(set) var closedConnectionCount = 0
    private(set) var maximumConcurrentRequests = 0
    private var isStopped = false
    private var routes: [String: Script] = [:]
    private var handler: Handler?
    /// The sockets that a thread still serves, by connection.
    private var sockets: [Int: Socket] = [:]
    /// The connections in the middle of a request.
    private var busyConnections: Set<Int> = []
    private var waiters: [UUID: (milestone: Milestone, waiter: Waiter)] = [:]

    init(handler: Handler?) {
        self.handler = handler
    }

    // MARK: Answers

    mutating func route(_ target: String, _ responses: [LoopbackServer.Response]) {
        routes[target] = Script(responses)
    }

    mutating func respond(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// The answer to a request on a connection, whose turn in its route's script this is; nil if the server is stopped,
    /// which has forgotten its routes and must not answer 404.
    mutating func requestBegan(target: String, on connection: Int) -> Answer? {
        guard !isStopped else { return nil }
        busyConnections.insert(connection)
        maximumConcurrentRequests = max(maximumConcurrentRequests, busyConnections.count)
        return nextAnswer(for: target)
    }

    /// The answer whose turn it is in the script of the target's route.
    mutating func nextAnswer(for target: String) -> Answer {
        let pathAndQuery = String(RequestHead.pathAndQuery(of: target))
        for key in [pathAndQuery, String(pathAndQuery.prefix { $0 != "?" })] {
            if let response = routes[key]?.next() { return .response(response) }
        }
        if let handler { return .handler(handler) }
        return .response(.status(404))
    }

    // MARK: Events

    /// A connection was accepted. Returns its number; nil if the server is stopped.
    mutating func connectionOpened(_ socket: Socket) -> Int? {
        guard !isStopped else { return nil }
        let id = connections.count + 1
        connections.append(LoopbackServer.ConnectionRecord(id: id))
        sockets[id] = socket
        return id
    }

    mutating func transferred(received: Int, sent: Int, on connection: Int) {
        connections[connection - 1].bytesReceived += received
        connections[connection - 1].bytesSent += sent
    }

    mutating func requestArrived(_ request: LoopbackServer.Request) -> [Waiter] {
        requests.append(request)
        return reached()
    }

    /// The response is complete but for its last bytes, which are sent next: a client that reacts to them must not find
    /// itself counted as still busy.
    mutating func responseEnds(on connection: Int) {
        connections[connection - 1].requestsServed += 1
        busyConnections.remove(connection)
    }

    mutating func connectionEnded(
        _ connection: Int, _ end: LoopbackServer.ConnectionRecord.End, at instant: ContinuousClock.Instant
    ) -> [Waiter] {
        busyConnections.remove(connection)
        guard connections[connection - 1].end == nil else { return [] }
        connections[connection - 1].end = end
        connections[connection - 1].endInstant = instant
        closedConnectionCount += 1
        return reached()
    }

    /// The thread of a connection is done with its socket.
    mutating func connectionReleased(_ connection: Int) {
        sockets[connection] = nil
    }

    /// Ends everything. Returns the sockets to shut down, whom to tell that what he waits for has come, and whom that it
    /// will never come.
    mutating func stop(
        at instant: ContinuousClock.Instant
    ) -> (sockets: [Socket], reached: [Waiter], abandoned: [Waiter]) {
        guard !isStopped else { return ([], [], []) }
        isStopped = true
        // Closures may hold the server, and the server holds this.
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

    /// Registers a waiter. Returns what to resume it with if it need not wait.
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
        case .requests(let count): requests.count >= count
        case .connectionsClosed(let count): closedConnectionCount >= count
        }
    }

    private mutating func reached() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        let met = waiters.filter { hasReached($0.value.milestone) }
        for id in met.keys { waiters[id] = nil }
        return met.values.map(\.waiter)
    }
}
