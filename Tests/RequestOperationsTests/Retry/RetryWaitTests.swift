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

    @Test func theBackoffEndsIt() async throws {
        let waiting = await begun()
        clock.advance(by: .seconds(5))
        #expect(try await waiting.value == .backoff)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func withoutADelayItIsOverAtOnce(delay: Duration) async throws {
        #expect(try await newWait.run(delay, or: [], after: failure) == .backoff)
    }

    @Test func itRunsInRealTimeOnTheContinuousClock() async throws {
        let reason = try await RetryWait(on: .continuous).run(.milliseconds(1), or: [], after: failure)
        #expect(reason == .backoff)
    }

    @Test func whoeverWakesItFirstIsTheReason() async throws {
        let wait = newWait
        let waiting = await begun(wait)
        wait.end(with: .retryNow)
        wait.end(with: .backoff)
        #expect(try await waiting.value == .retryNow)
    }

    @Test func aWakeBeforeItBeginsEndsItAtOnce() async throws {
        let wait = newWait
        wait.end(with: .retryNow)
        #expect(try await wait.run(.seconds(5), or: [], after: failure) == .retryNow)
    }

    @Test func anObserverThatReturnsEndsItUnderItsName() async throws {
        let mayReturn = Door()
        let waiting = await begun(or: [Observer { await mayReturn.pass() }])
        mayReturn.open()
        #expect(try await waiting.value == .observer("Observer"))
    }

    @Test func anObserverThatThrowsLeavesTheRaceToTheOthers() async throws {
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

    @Test func theObserversAreCancelledWhenItEnds() async throws {
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

    @Test func aCancelEndsItWhateverItsObserversDo() async {
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
