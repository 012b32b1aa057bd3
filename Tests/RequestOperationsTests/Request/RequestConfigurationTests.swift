import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RequestConfigurationTests {
    private static func limits(
        timeout: TimeInterval? = nil, to destination: TransportTask.Destination = .memory,
        _ edit: (inout RequestConfiguration) -> Void = { _ in }
    ) -> TransferLimits {
        var request = URLRequest(url: URL(string: "http://a.example/")!)  // A literal that is a URL.
        if let timeout { request.timeoutInterval = timeout }
        var configuration = RequestConfiguration()
        edit(&configuration)
        return configuration.limits(for: TransportTask(request, destination: destination))
    }

    @Test func `The defaults are the documented ones`() {
        let configuration = RequestConfiguration.default
        #expect(configuration.adapters.isEmpty && configuration.limiter == nil && configuration.deadline == nil)
        #expect(configuration.freshness == .seconds(30) && configuration.maximumBodySize == 64 << 20)
        #expect(configuration.errorBodyLimit == 64 << 10 && configuration.attemptTimeLimit == nil)
        #expect(configuration.connectTimeLimit == .seconds(15) && configuration.idleTimeLimit == .seconds(60))
        #expect(configuration.retryPolicy.maximumRetries == 3 && configuration.redirects == RedirectPolicy())
        #expect(configuration.clock is ContinuousClock && configuration.randomSource === RandomSource.system)
        #expect(
            configuration.stageTimeLimits.isEmpty && configuration.onEvent == nil && configuration.onProgress == nil)
    }

    @Test func `A change of a copy leaves the original`() {
        let original = RequestConfiguration()
        var copy = original
        copy.deadline = .seconds(1)
        copy.retryPolicy.maximumRetries = 9
        copy.setQueue(OperationQueue(), for: .process)
        #expect(original.deadline == nil && original.retryPolicy.maximumRetries == 3)
        #expect(original.queue(for: .process) == nil && RequestConfiguration.default.deadline == nil)
        #expect(copy.deadline == .seconds(1) && copy.retryPolicy.maximumRetries == 9)
    }

    @Test func `Operations with the same value share it until a copy is changed`() {
        let original = RequestConfiguration()
        var copy = original
        #expect(copy.settings === original.settings)
        copy.deadline = .seconds(1)
        #expect(copy.settings !== original.settings && copy.settings.configuration.deadline == .seconds(1))
        #expect(original.settings.configuration.deadline == nil)
        // Of two copies that no operation was made with yet, each goes its own way.
        let base = copy.with { $0.freshness = .zero }
        let changed = base.with { $0.hosts = HostRegistry() }
        #expect(base.settings !== changed.settings && base.settings.configuration.hosts === HostRegistry.shared)
    }

    @Test func `Every change is seen by the operations that are made after it`() {
        let changes: [(inout RequestConfiguration) -> Void] = [
            { $0.transport = ScriptedTransport([.body(Data())]) }, { $0.adapters = [] },
            { $0.validation = .successfulStatus },
            { $0.redirects = RedirectPolicy() }, { $0.trust = nil }, { $0.limiter = nil }, { $0.freshness = .zero },
            { $0.retryPolicy.maximumRetries = 0 }, { $0.retryDeciders = [] }, { $0.hedging = nil },
            { $0.waitsForConnectivity = true }, { $0.networkPath = NetworkPath() }, { $0.hosts = HostRegistry() },
            { $0.randomSource = .system }, { $0.clock = ManualClock() }, { $0.connectTimeLimit = nil },
            { $0.idleTimeLimit = nil }, { $0.attemptTimeLimit = nil }, { $0.deadline = nil },
            { $0.stageTimeLimits = [:] }, { $0.maximumBodySize = nil }, { $0.maximumDecompressionRatio = nil },
            { $0.errorBodyLimit = 0 }, { $0.errorBodyDecoder = nil }, { $0.completionQueue = .main },
            { $0.onEvent = nil }, { $0.onProgress = nil }, { $0.setQueue(nil, for: .process) },
            { $0.authentication = nil },
        ]
        var configuration = RequestConfiguration()
        for (number, change) in changes.enumerated() {
            let before = configuration.settings
            change(&configuration)
            #expect(configuration.settings !== before, "change \(number)")
        }
    }

    // MARK: Limits of a transfer

    @Test func `The limits of a transfer are those of the configuration`() {
        let limits = Self.limits {
            $0.connectTimeLimit = .seconds(1)
            $0.idleTimeLimit = .seconds(2)
            $0.maximumBodySize = 3
            $0.errorBodyLimit = 4
        }
        #expect(
            limits == TransferLimits(connect: .seconds(1), idle: .seconds(2), maximumBodySize: 3, errorBodyLimit: 4))
    }

    @Test(
        arguments: [
            (5, .seconds(5)), (0.25, .milliseconds(250)), (0.3, .milliseconds(300)), (61, .seconds(61)),
            (999_999_999, .seconds(999_999_999)), (0, nil), (-1, nil), (1e9, nil), (.infinity, nil), (-.infinity, nil),
            (.nan, nil),
        ] as [(TimeInterval, Duration?)])
    func `A timeout of the requests own takes the place of the idle limit`(timeout: TimeInterval, idle: Duration?) {
        #expect(Self.limits(timeout: timeout).idle == idle)
    }

    @Test func `Foundation's default timeout is not the requests own`() {
        #expect(Self.limits(timeout: 60) { $0.idleTimeLimit = .seconds(2) }.idle == .seconds(2))
        #expect(Self.limits { $0.idleTimeLimit = nil }.idle == nil)
    }

    @Test func `Only a body in memory is bounded`() {
        #expect(Self.limits().maximumBodySize == 64 << 20)
        #expect(Self.limits(to: .file(URL(fileURLWithPath: "/x"))).maximumBodySize == nil)
        #expect(Self.limits(to: .stream { _ in }).maximumBodySize == nil)
    }

    // MARK: Stages

    @Test(arguments: UserStage.allCases)
    func `A stage can have a queue and lose it`(stage: UserStage) {
        let queue = OperationQueue()
        var configuration = RequestConfiguration()
        configuration.setQueue(queue, for: stage)
        #expect(configuration.queue(for: stage) === queue && !configuration.runsDirectly(stage))
        configuration.setQueue(nil, for: stage)
        #expect(configuration.queue(for: stage) == nil && configuration.runsDirectly(stage))
    }

    @Test func `A stage with a limit does not run directly and others do`() {
        var configuration = RequestConfiguration()
        configuration.stageTimeLimits[.decode] = .seconds(1)
        #expect(!configuration.runsDirectly(.decode) && configuration.runsDirectly(.process))
    }

    @Test func `The trust of a configuration is that of the tasks that bring none of their own`() async throws {
        let transport = ScriptedTransport([.body(Data())])
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.trust = TrustPolicy(pinnedKeys: [configurationPin])
        let request = URLRequest(url: URL(string: "https://a.example/")!)  // A literal that is a URL.
        for operation in [
            URLRequestOperation(request, configuration: configuration),
            Distrustful(request, decoder: .data, configuration: configuration),
        ] {
            OperationQueue().addOperation(operation)
            _ = try await operation.value
        }
        #expect(transport.tasks.map { $0.trust?.pinnedKeys } == [[configurationPin], [taskPin]])
    }

    @Test func `A copy is made with changes`() {
        let configuration = RequestConfiguration()
        #expect(configuration.with { $0.deadline = .seconds(7) }.deadline == .seconds(7))
        #expect(configuration.deadline == nil)
    }
}

private let configurationPin = "sha256//" + Data(repeating: 1, count: 32).base64EncodedString()
private let taskPin = "sha256//" + Data(repeating: 2, count: 32).base64EncodedString()

/// Brings a trust policy of its own.
private final class Distrustful: URLRequestOperation<Data>, @unchecked Sendable {
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        task.trust = TrustPolicy(pinnedKeys: [taskPin])
        return task
    }
}
