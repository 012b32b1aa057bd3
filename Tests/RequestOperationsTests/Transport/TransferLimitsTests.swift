import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct TransferLimitsTests {
    private static let destinations: [TransportTask.Destination] = [
        .memory, .file(URL(fileURLWithPath: "/x")), .stream { _ in },
    ]

    /// The task with its limits as a transport gets it from an operation.
    private static func completed(
        to destination: TransportTask.Destination = .memory, timeout: TimeInterval = 60,
        _ configure: (inout RequestConfiguration) -> Void = { _ in }, limits edit: (inout TransferLimits) -> Void
    ) -> TransferLimits {
        var configuration = RequestConfiguration()
        configure(&configuration)
        var request = anyRequest
        request.timeoutInterval = timeout
        var task = TransportTask(request, destination: destination)
        edit(&task.limits)
        task.complete(from: configuration.settings, isProcessedByAdapters: true)
        return task.effectiveLimits
    }

    @Test func `The limits have their documented defaults`() {
        let limits = TransferLimits()
        #expect(limits.connect == .seconds(15) && limits.idle == .seconds(60))
        #expect(limits.maximumBodySize == 64 << 20 && limits.errorBodyLimit == 64 << 10)
        #expect(limits.errorBodyTimeLimit == .milliseconds(500) && limits.maximumDecompressionRatio == 256)
        // A body of up to 64 MiB is never judged by it.
        #expect(limits.maximumDecompressionRatio.map { $0 * (256 << 10) } == 64 << 20)
    }

    @Test func `A limit that was set is read as it was set and none is none`() {
        var limits = TransferLimits()
        limits.connect = .seconds(1)
        limits.idle = nil
        limits.maximumBodySize = nil
        limits.errorBodyLimit = 2
        limits.errorBodyTimeLimit = .seconds(3)
        #expect(limits.connect == .seconds(1) && limits.idle == nil && limits.maximumBodySize == nil)
        #expect(limits.errorBodyLimit == 2 && limits.errorBodyTimeLimit == .seconds(3))
    }

    // MARK: Of a request

    @Test(
        arguments: [
            (60, .seconds(60)), (0.5, .milliseconds(500)), (61, .seconds(61)), (0, nil), (-1, nil), (.infinity, nil),
            (.nan, nil), (.greatestFiniteMagnitude, nil),
        ] as [(TimeInterval, Duration?)])
    func `The idle limit of a task that has none is the timeout of its request`(timeout: TimeInterval, idle: Duration?)
    {
        var request = anyRequest
        request.timeoutInterval = timeout
        var task = TransportTask(request)
        #expect(task.effectiveLimits.idle == idle)
        task.limits.idle = .seconds(7)
        #expect(task.effectiveLimits.idle == .seconds(7))
        task.limits.idle = nil
        #expect(task.effectiveLimits.idle == nil)
    }

    // MARK: Of a task and a configuration

    @Test func `A limit of a task leaves the others to the configuration`() {
        let limits = Self.completed {
            $0.connectTimeLimit = .seconds(1)
            $0.idleTimeLimit = .seconds(2)
            $0.errorBodyLimit = 4
        } limits: {
            $0.maximumBodySize = 9
        }
        #expect(limits.connect == .seconds(1) && limits.idle == .seconds(2))
        #expect(limits.maximumBodySize == 9 && limits.errorBodyLimit == 4)
    }

    @Test func `The bound of the configuration holds unless the task has its own`() {
        #expect(Self.completed({ $0.maximumBodySize = 7 }, limits: { _ in }).maximumBodySize == 7)
        #expect(Self.completed({ $0.maximumBodySize = 7 }, limits: { $0.maximumBodySize = 9 }).maximumBodySize == 9)
    }

    @Test(arguments: [5, nil])
    func `The expansion that the configuration allows holds unless the task has its own`(ratio: Int?) {
        let configure: (inout RequestConfiguration) -> Void = { $0.maximumDecompressionRatio = ratio }
        #expect(Self.completed(limits: { _ in }).maximumDecompressionRatio == 256)
        #expect(Self.completed(configure, limits: { _ in }).maximumDecompressionRatio == ratio)
        let own = Self.completed(configure, limits: { $0.maximumDecompressionRatio = 7 })
        #expect(own.maximumDecompressionRatio == 7)
    }

    @Test func `A limit of a task leaves the timeout of its request`() {
        #expect(Self.completed(timeout: 5, limits: { $0.maximumBodySize = 9 }).idle == .seconds(5))
    }

    @Test func `The limit of a task comes before the timeout of its request`() {
        #expect(Self.completed(timeout: 5, limits: { $0.idle = .seconds(1) }).idle == .seconds(1))
        #expect(Self.completed(timeout: 5, limits: { $0.idle = nil }).idle == nil)
    }

    @Test func `A task can lift a limit of the configuration`() {
        let limits = Self.completed {
            $0.connect = nil
            $0.idle = nil
            $0.maximumBodySize = nil
        }
        #expect(limits.connect == nil && limits.idle == nil && limits.maximumBodySize == nil)
    }

    @Test(arguments: destinations)
    func `Only a body in memory has a bound that was not set`(destination: TransportTask.Destination) {
        let isInMemory = if case .memory = destination { true } else { false }
        let bound = isInMemory ? 64 << 20 : nil
        #expect(Self.completed(to: destination) { $0.idle = .seconds(1) }.maximumBodySize == bound)
        var task = TransportTask(anyRequest, destination: destination)
        task.limits.idle = .seconds(1)
        #expect(task.effectiveLimits.maximumBodySize == bound)
    }

    @Test(arguments: destinations)
    func `A bound that was set holds for every destination`(destination: TransportTask.Destination) {
        #expect(Self.completed(to: destination) { $0.maximumBodySize = 7 }.maximumBodySize == 7)
    }
}
