import Foundation
import RequestOperations
import Synchronization

/// Operations of which each that ends makes the next.
final class SoakTraffic: Sendable {
    private let sites: [SoakSite]
    private let cancelShare: Int
    private let configuration: RequestConfiguration
    private let queue = OperationQueue()
    private let state = Mutex(SoakCounts())
    private let isQuiet = DispatchSemaphore(value: 0)

    init(_ sites: [SoakSite], over transport: any Transport, cancelShare: Int) {
        self.sites = sites
        self.cancelShare = cancelShare
        var configuration = RequestConfiguration.default
        configuration.transport = transport
        // A stall and a backoff that let much happen in a minute.
        configuration.idleTimeLimit = .milliseconds(500)
        configuration.retryPolicy.backoff = .exponential(initial: .milliseconds(50))
        // The server fails on purpose, more often than a budget allows.
        configuration.retryPolicy.budget = nil
        self.configuration = configuration
    }

    /// What has happened so far.
    var counts: SoakCounts { state.withLock { $0 } }

    /// Starts so many operations at once.
    func begin(_ width: Int) {
        for _ in 0..<width { startNext() }
    }

    /// Starts no more; returns how many had not ended once, exactly, after so many seconds.
    func end(within seconds: Double) -> Int {
        let isQuietAlready = state.withLock { state in
            state.isEnding = true
            return state.running == 0
        }
        if !isQuietAlready { _ = isQuiet.wait(timeout: .now() + seconds) }
        // An operation that ended twice would show now.
        Thread.sleep(forTimeInterval: 0.2)
        return abs(counts.running) + counts.endedTwice
    }

    private func startNext() {
        let number = state.withLock { state -> Int? in
            guard !state.isEnding else { return nil }
            state.begun += 1
            return state.begun
        }
        guard let number else { return }
        let site = sites[number % sites.count]
        // A good URL.
        let request = URLRequest(url: URL(string: "\(site.url)?\(number)")!)
        let operation = SoakOperation(request, configuration, version: site.scheme.version) { [self] in
            state.withLock { $0.ofOtherVersion += 1 }
        }
        let flag = EndFlag()
        operation.whenFinished { [self] in ended($0, over: site.scheme, for: flag) }
        queue.addOperation(operation)
        guard number % cancelShare == 0 else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .random(in: 0...0.01)) { operation.cancel() }
    }

    private func ended(_ result: Result<Data, any Error>, over scheme: Nginx.Scheme, for flag: EndFlag) {
        let isQuietNow = state.withLock { state in
            guard flag.raise() else {
                state.endedTwice += 1
                return false
            }
            state.results[scheme, default: SoakCounts.Results()].count(result)
            return state.isEnding && state.running == 0
        }
        if isQuietNow { isQuiet.signal() } else { startNext() }
    }
}

/// An operation that looks at the version by which each of its responses comes.
// Unchecked as its superclass is: its own state never changes.
private final class SoakOperation: URLRequestOperation<Data>, @unchecked Sendable {
    private let version: HTTPVersion
    private let onOtherVersion: @Sendable () -> Void

    init(
        _ request: URLRequest, _ configuration: RequestConfiguration, version: HTTPVersion,
        onOtherVersion: @escaping @Sendable () -> Void
    ) {
        self.version = version
        self.onOtherVersion = onOtherVersion
        super.init(request, decoder: .data, configuration: configuration)
    }

    override func validate(_ head: ResponseHead) throws {
        if head.version != version { onOtherVersion() }
        try super.validate(head)
    }
}

extension Nginx.Scheme {
    fileprivate var version: HTTPVersion {
        switch self {
        case .plain, .tls: .http1_1
        case .http2: .http2
        }
    }
}

/// Whether one operation has ended.
private final class EndFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Raises it; false if it is up already.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .relaxed) }
}

/// What has happened in a soak.
struct SoakCounts {
    /// With what the operations of one scheme ended.
    struct Results {
        var succeeded = 0
        var failed = 0
        var cancelled = 0

        var all: Int { succeeded + failed + cancelled }

        mutating func count(_ result: Result<Data, any Error>) {
            switch result {
            case .success: succeeded += 1
            case .failure(let error) where error is CancellationError: cancelled += 1
            case .failure: failed += 1
            }
        }
    }

    var begun = 0
    var endedTwice = 0
    /// Responses that came by another version than that of their scheme.
    var ofOtherVersion = 0
    var isEnding = false
    var results: [Nginx.Scheme: Results] = [:]

    var ended: Int { results.values.reduce(0) { $0 + $1.all } }
    var running: Int { begun - ended }

    /// The counts of each scheme as a sentence.
    var lines: [String] {
        Nginx.Scheme.allCases.map { scheme in
            let results = results[scheme] ?? Results()
            return "\(scheme.rawValue): \(results.all) ended, \(results.succeeded) succeeded, "
                + "\(results.failed) failed, \(results.cancelled) cancelled"
        }
    }

    /// Whether the traffic was what it is to be.
    ///
    /// - Throws: A ``BenchmarkError`` if a scheme carried nothing, or a response came by another version.
    func check() throws {
        let isEachUsed = Nginx.Scheme.allCases.allSatisfy { (results[$0]?.succeeded ?? 0) > 0 }
        guard isEachUsed, ofOtherVersion == 0 else {
            throw BenchmarkError("\(ofOtherVersion) responses came by another version: \(lines)")
        }
    }
}
