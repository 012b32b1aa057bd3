import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RetryWaitTests {
    private let clock = ManualClock()
    private let failure = AttemptFailure(Problem(), request: anyRequest)

    private struct Observer: EarlyRetryObserver {
        let body: @Sendable () async throws -> Void

        func wait(after failure: AttemptFailure) async throws { try await body() }
    }

    private var newWait: RetryWait { RetryWait(on: RequestClock(clock)) }

    /// A wait that has begun.
    private func begun(
        _ wait: RetryWait? = nil, _ delay: Duration = .seconds(5), or observers: [any EarlyRetryObserver] = []
    ) async -> Task<WakeReason, any Error> {
        let wait = wait ?? newWait
        let task = Task { [failure] in try await wait.run(delay, or: observers, after: failure) }
        await clock.sleepers(1)
        return task
    }

    @Test func `A replacement that comes before the beginning counts`() async throws {
        let wait = newWait
        #expect(wait.replace(.seconds(60), after: failure, in: clock.hosts))
        wait.begin(.zero, after: failure, in: clock.hosts)
        async let wake = wait.wake
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await wake.waited == .seconds(60))
    }

    @Test func `A replacement has its own observers and no former ones`() {
        let wait = RetryWait(observers: [HostRecoveryObserver()], on: RequestClock(clock))
        #expect(wait.tabledObservers.count == 1)
        #expect(wait.replace(.seconds(60), after: failure, in: clock.hosts))
        #expect(wait.tabledObservers.isEmpty)
    }

    @Test func `The backoff ends it`() async throws {
        let waiting = await begun()
        clock.advance(by: .seconds(5))
        #expect(try await waiting.value == .backoff)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `Without a delay it is over at once`(delay: Duration) async throws {
        #expect(try await newWait.run(delay, or: [], after: failure) == .backoff)
    }

    @Test func `It runs in real time on the continuous clock`() async throws {
        let reason = try await RetryWait(on: .continuous).run(.milliseconds(1), or: [], after: failure)
        #expect(reason == .backoff)
    }

    @Test func `Whoever wakes it first is the reason`() async throws {
        let wait = newWait
        let waiting = await begun(wait)
        wait.end(with: .retryNow)
        wait.end(with: .backoff)
        #expect(try await waiting.value == .retryNow)
    }

    @Test func `A wake before it begins ends it at once`() async throws {
        let wait = newWait
        wait.end(with: .retryNow)
        #expect(try await wait.run(.seconds(5), or: [], after: failure) == .retryNow)
    }

    @Test func `An observer that returns ends it under its name`() async throws {
        let mayReturn = Door()
        let waiting = await begun(or: [Observer { await mayReturn.pass() }])
        mayReturn.open()
        #expect(try await waiting.value == .observer("Observer"))
    }

    @Test func `An observer that throws leaves the race to the others`() async throws {
        let hasThrown = Door()
        let waiting = await begun(
            or: [
                Observer {
                    defer { hasThrown.open() }
                    throw Problem()
                }
            ])
        await hasThrown.pass()
        clock.advance(by: .seconds(5))
        #expect(try await waiting.value == .backoff)
    }

    @Test func `The observers are cancelled when it ends`() async throws {
        let isWatching = Door()
        let wasCancelled = Door()
        let waiting = await begun(
            or: [
                Observer {
                    isWatching.open()
                    do { try await ManualClock().sleep(for: .seconds(1)) } catch { wasCancelled.open() }
                }
            ])
        await isWatching.pass()
        clock.advance(by: .seconds(5))
        _ = try await waiting.value
        await wasCancelled.pass()
    }

    @Test func `A cancel ends it whatever its observers do`() async {
        let isWatching = Door()
        let waiting = await begun(
            or: [
                Observer {
                    isWatching.open()
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            ])
        await isWatching.pass()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}

extension RetryWait {
    /// Waits from the beginning of the race to its end.
    func run(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        in hosts: HostRegistry = HostRegistry()
    ) async throws -> WakeReason {
        begin(delay, or: observers, after: failure, in: hosts)
        return try await wake.reason
    }
}
