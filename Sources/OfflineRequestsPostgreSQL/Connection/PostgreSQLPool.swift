#if PostgreSQL
    import Foundation
    import OfflineRequests
    import RequestOperations

    /// Connections to one database, each with a thread of its own.
    ///
    /// Calls begin in the order of their arrival. A connection is made when a call finds none that is free. One that is lost
    /// is made again: a call that the server cannot have seen, or that may run twice, goes on with the new one.
    package final class PostgreSQLPool: Sendable {
        /// What a call needs to know of its repetition and its end.
        package struct Terms: Sendable {
            /// Whether the call may run twice. A call that may not fails if the connection is lost before its answer came.
            package var isRepeatable = true
            /// Whether a caller that is cancelled leaves. A call that has begun still runs to its end.
            package var isCancellable = true
            /// For how long a call is repeated, and waits for a connection. `nil` means the time limit of a statement.
            package var patience: Duration?

            package static let read = Terms()
            /// Of a sender. A delivery that is cancelled still has an outcome to record.
            package static let sending = Terms(isCancellable: false)
            /// Of a queue that is opened: a server that is not there is an error at once.
            package static let opening = Terms(patience: .zero)
            package static let closing = Terms(isCancellable: false, patience: .zero)
            package static let once = Terms(isRepeatable: false, isCancellable: false)
        }

        private let settings: PostgreSQLSettings
        private let most: Int
        private let state = Locked(State())
        /// Signalled once for each thread that is to look for a call.
        private let arrivals = DispatchSemaphore(value: 0)
        /// Signalled once for each thread when the pool closes, to cut its pauses.
        private let closing = DispatchSemaphore(value: 0)

        private static let backoff = Backoff.exponential(
            initial: .milliseconds(100), factor: 2, maximum: .seconds(5), jitter: .equal)
        /// How long a close waits for calls under way, before it ends their connections.
        private static let closePatience = Duration.seconds(5)

        /// - Parameters:
        ///   - settings: How connections are made.
        ///   - most: The most connections, at least 1.
        package init(_ settings: PostgreSQLSettings, most: Int) {
            self.settings = settings
            self.most = max(most, 1)
        }

        /// Runs a call on a connection, on the thread of the connection.
        ///
        /// - Parameters:
        ///   - terms: ``Terms/read`` by default.
        ///   - body: The call. It can run several times.
        /// - Throws: ``OfflineQueueError``, or `CancellationError`.
        package func run<Value: Sendable>(
            _ terms: Terms = .read, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
        ) async throws -> Value {
            if terms.isCancellable { try Task.checkCancellation() }
            let answer = Answer<Value>()
            let call = Call(terms, limit: .now + (terms.patience ?? settings.statementTimeout)) { connection in
                answer.resume(with: .success(try body(connection)))
            } fail: {
                answer.resume(with: .failure($0))
            }
            switch state.withLock({ $0.append(call, most: most) }) {
            case .refuse: throw OfflineQueueError(.closed)
            case .wakeThread: arrivals.signal()
            case .startThread: Thread.detachNewThread { self.serve() }
            case .wait: break
            }
            guard terms.isCancellable else { return try await answer.value }
            return try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                call.isAbandoned.withLock { $0 = true }
                answer.resume(with: .failure(CancellationError()))
            }
        }

        /// Refuses new calls and those that have not begun. Returns when no call runs any more.
        package func close() async {
            let (calls, idle) = state.withLock { $0.close() }
            for call in calls { call.fail(OfflineQueueError(.closed)) }
            for _ in 0..<idle { arrivals.signal() }
            for _ in 0..<most { closing.signal() }
            // A server that does not answer any more must not keep the program.
            let limit = Task {
                do { try await Task.sleep(for: Self.closePatience) } catch { return }
                state.withLock { for descriptor in $0.spares { PostgreSQLSocket.shutDown(descriptor) } }
            }
            await withCheckedContinuation { continuation in
                if state.withLock({ $0.awaitEnd(continuation) }) { continuation.resume() }
            }
            limit.cancel()
        }

        // MARK: The threads

        private func serve() {
            var link: Link?
            while let call = next() {
                if !call.isAbandoned.withLock({ $0 }) { run(call, on: &link) }
                for end in state.withLock({ $0.ended() }) { end.resume() }
            }
            discard(&link)
        }

        private func next() -> Call? {
            while true {
                switch state.withLock({ $0.next() }) {
                case .run(let call): return call
                case .wait: arrivals.wait()
                case .end: return nil
                }
            }
        }

        /// Runs a call until it has an answer.
        private func run(_ call: Call, on link: inout Link?) {
            var failures = 0
            while true {
                do {
                    let open = try link ?? connect()
                    link = open
                    defer { if open.connection.isLost { discard(&link) } }
                    return try call.run(open.connection)
                } catch let error as PostgreSQLError
                    where error.allowsRepetition(ofRepeatable: call.terms.isRepeatable) && call.limit > .now
                {
                    // The calls behind it wait for the same server.
                    if error.cause == .unreachable { failLate(error) }
                    // An idle connection that the server has ended is replaced at once.
                    failures += 1
                    if failures > 1 || error.cause != .lost(mayHaveRun: false) { pause(before: failures) }
                    if state.withLock({ $0.isClosed }) { return call.fail(OfflineQueueError(.closed)) }
                } catch {
                    return call.fail(OfflineQueueError(database: error))
                }
            }
        }

        /// A connection, and a second descriptor of its socket. libpq closes the first at a loss, and another file may then
        /// get its number.
        private struct Link {
            let connection: PostgreSQLConnection
            let spare: Int32
        }

        private func connect() throws -> Link {
            let connection = try PostgreSQLConnection(settings)
            let link = Link(connection: connection, spare: dup(connection.descriptor))
            state.withLock { _ = $0.spares.insert(link.spare) }
            return link
        }

        private func discard(_ link: inout Link?) {
            guard let lost = link else { return }
            state.withLock { _ = $0.spares.remove(lost.spare) }
            Foundation.close(lost.spare)
            link = nil
        }

        private func failLate(_ error: PostgreSQLError) {
            for call in state.withLock({ $0.removeLate(at: .now) }) { call.fail(OfflineQueueError(database: error)) }
        }

        private func pause(before retry: Int) {
            let delay = Self.backoff.delay(beforeRetry: retry)
            _ = closing.wait(timeout: .now() + .nanoseconds(Int(delay / .nanoseconds(1))))
        }

        // MARK: State

        private final class Call: Sendable {
            let terms: Terms
            let limit: ContinuousClock.Instant
            let run: @Sendable (PostgreSQLConnection) throws -> Void
            let fail: @Sendable (any Error) -> Void
            /// Whether its caller has left.
            let isAbandoned = Locked(false)

            init(
                _ terms: Terms, limit: ContinuousClock.Instant,
                run: @escaping @Sendable (PostgreSQLConnection) throws -> Void,
                fail: @escaping @Sendable (any Error) -> Void
            ) {
                self.terms = terms
                self.limit = limit
                self.run = run
                self.fail = fail
            }
        }

        private struct State {
            private var waiting: [Call] = []
            /// How many of `waiting`, from its start, have begun.
            private var begun = 0
            /// The threads that wait for a call, and all.
            private var (idle, threads) = (0, 0)
            private var running = 0
            private(set) var isClosed = false
            private var closers: [CheckedContinuation<Void, Never>] = []
            var spares: Set<Int32> = []

            enum Arrival {
                case wakeThread
                case startThread
                case wait
                case refuse
            }

            mutating func append(_ call: Call, most: Int) -> Arrival {
                if isClosed { return .refuse }
                waiting.append(call)
                if idle > 0 {
                    idle -= 1
                    return .wakeThread
                }
                guard threads < most else { return .wait }
                threads += 1
                return .startThread
            }

            enum Step {
                case run(Call)
                case wait
                case end
            }

            mutating func next() -> Step {
                if begun < waiting.count {
                    let call = waiting[begun]
                    begun += 1
                    running += 1
                    // The array moves its elements seldom.
                    if begun > 64, begun * 2 > waiting.count {
                        waiting.removeFirst(begun)
                        begun = 0
                    }
                    return .run(call)
                }
                (waiting, begun) = ([], 0)
                if isClosed { return .end }
                idle += 1
                return .wait
            }

            /// Ends a call. Returns what waits for the last one.
            mutating func ended() -> [CheckedContinuation<Void, Never>] {
                running -= 1
                guard isClosed, running == 0 else { return [] }
                defer { closers = [] }
                return closers
            }

            mutating func removeLate(at now: ContinuousClock.Instant) -> [Call] {
                let left = waiting[begun...]
                (waiting, begun) = (left.filter { $0.limit > now }, 0)
                return left.filter { $0.limit <= now }
            }

            mutating func close() -> (calls: [Call], idle: Int) {
                defer { (waiting, begun, idle, isClosed) = ([], 0, 0, true) }
                return (Array(waiting[begun...]), idle)
            }

            /// Returns whether no call runs.
            mutating func awaitEnd(_ closer: CheckedContinuation<Void, Never>) -> Bool {
                if running > 0 { closers.append(closer) }
                return running == 0
            }
        }
    }
#endif
