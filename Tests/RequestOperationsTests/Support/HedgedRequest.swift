import RequestOperations
import RequestOperationsTesting

/// A request whose attempts are hedged after 100 ms of a clock that a test moves, and what is heard of it.
struct HedgedRequest {
    static let delay = Duration.milliseconds(100)

    let clock = ManualClock()
    /// The script, if there is one: whose first answer has to be that of the first attempt.
    private let script: ScriptedTransport?
    let events = Collector<RequestEvent.Step>()
    var configuration: RequestConfiguration

    /// Makes one.
    ///
    /// - Parameters:
    ///   - transport: The transport.
    ///   - script: The script that it follows, if there is one.
    init(over transport: any Transport, following script: ScriptedTransport? = nil) {
        self.script = script
        configuration = .over(transport)
        configuration.clock = clock
        configuration.hedging = Hedging(delay: Self.delay)
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.onEvent = { [events] in events.append($0.step) }
    }

    /// Makes one whose attempts are answered by these, in the order of their sending.
    static func answered(by answers: [ScriptedTransport.Answer]) -> (HedgedRequest, ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        return (HedgedRequest(over: transport, following: transport), transport)
    }

    func operation(_ request: URLRequest = anyRequest) -> URLRequestOperation<Data> {
        URLRequestOperation(request, configuration: configuration)
    }

    /// Starts an operation, and has it hedged as soon as its first attempt is under way.
    func start<Value>(_ operation: URLRequestOperation<Value>, in queue: OperationQueue = OperationQueue()) async {
        queue.addOperation(operation)
        await passDelay()
    }

    /// Has the next hedge be due, when somebody waits for it and the first attempt was sent.
    func passDelay(sleepers: Int = 1) async {
        await script?.requests(atLeast: 1)
        await clock.sleepers(sleepers)
        clock.advance(by: Self.delay)
    }

    /// The first step that is of interest, awaited.
    @discardableResult
    func step<Found: Sendable>(_ find: (RequestEvent.Step) -> Found?) async -> Found {
        var count = 0
        while true {
            count += 1
            await events.count(count)
            if let found = find(events.elements[count - 1]) { return found }
        }
    }

    /// Why there was no hedge.
    func refusal() async -> String {
        await step { if case .notHedged(let refusal) = $0 { refusal } else { nil } }
    }

    func hedgeBegan() async -> Int {
        await step { if case .hedgeBegan(let number) = $0 { number } else { nil } }
    }

    func attemptFailed() async -> AttemptFailure {
        await step { if case .attemptFailed(let failure) = $0 { failure } else { nil } }
    }

    /// The names of the steps so far.
    var steps: [String] {
        get async {
            await configuration.deliverEvents()
            return events.elements.map(\.name)
        }
    }
}

extension ScriptedTransport.Answer {
    /// An answer that is given when a door is open; a cancel is not waited for.
    static func behind(_ door: Door, _ answer: Self) -> Self {
        dynamic { _ in
            await withTaskCancellationHandler {
                await door.pass()
            } onCancel: {
                door.open()
            }
            try Task.checkCancellation()
            return answer
        }
    }
}
