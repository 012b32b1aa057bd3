import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct StepChainTests {
    private typealias Step = StepChain<Int>.Step

    /// A step that adds a number to the last value.
    private func adding(_ number: Int) -> Step {
        { last in .run(Work { (last ?? 0) + number }) }
    }

    private func names(_ results: [ChainStepResult<Int>]) -> [String] {
        results.map { result in
            switch result {
            case .value(let value): "\(value)"
            case .skipped: "skipped"
            case .stopped: "stopped"
            case .failed(let error): "\(type(of: error))"
            }
        }
    }

    @Test func `Each step gets the value of the one before`() async throws {
        let chain = StepChain(adding(1), adding(2), adding(3))
        let outcome = try await run(chain)
        #expect(outcome.value == 6 && names(outcome.steps) == ["1", "3", "6"] && !outcome.isStopped)
        #expect(chain.progress.completedUnitCount == 3 && chain.progress.fractionCompleted == 1)
    }

    @Test func `After a step that is skipped the next one gets the last value`() async throws {
        let outcome = try await run(StepChain({ _ in .skip }, adding(1), { _ in .skip }, adding(2)))
        #expect(outcome.value == 3 && names(outcome.steps) == ["skipped", "1", "skipped", "3"])
    }

    @Test func `A step can end the chain as a success`() async throws {
        let chain = StepChain(adding(1), { last in last == 1 ? .stop : .skip }, adding(2))
        let outcome = try await run(chain)
        #expect(outcome.isStopped && outcome.value == 1 && names(outcome.steps) == ["1", "stopped"])
        #expect(chain.progress.fractionCompleted == 1)
    }

    @Test func `A step can end the chain with an error`() async {
        for step in [{ _ in .fail(Problem()) }, { _ in throw Problem() }, { _ in .run(Work { throw Problem() }) }]
            as [Step]
        {
            let chain = StepChain(adding(1), step, adding(2))
            #expect(await failure(of: chain) is Problem)
            #expect(names(chain.results) == ["1", "Problem"])
        }
    }

    @Test func `Without steps the chain succeeds`() async throws {
        let outcome = try await run(StepChain<Int>([]))
        #expect(outcome.value == nil && outcome.steps.isEmpty && !outcome.isStopped)
    }

    @Test func `A cancel cancels the operation that runs and no step follows`() async {
        let begun = Door()
        let member = Work { () -> Int in
            begun.open()
            await blockedUntilCancelled()
            return 1
        }
        let isAsked = Locked(false)
        let chain = StepChain<Int>(
            { _ in .run(member) },
            { _ in
                isAsked.withLock { $0 = true }
                return .skip
            })
        OperationQueue().addOperation(chain)
        await begun.pass()
        chain.cancel()
        await #expect(throws: CancellationError.self) { try await chain.value }
        await end(of: chain)
        #expect(member.isCancelled && !isAsked.withLock { $0 })
    }

    @Test func `An operation that was cancelled cancels the chain`() async {
        let cancelled = Work { 1 }
        cancelled.cancel()
        let chain = StepChain<Int>({ _ in .run(cancelled) })
        #expect(await failure(of: chain) is CancellationError)
        #expect(chain.isCancelled)
    }

    @Test func `In a queue of width one its requests take the only place in turn`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let transport = ScriptedTransport([.body(Data("1".utf8)), .body(Data("2".utf8))])
        let step: StepChain<Data>.Step = { _ in
            .run(URLRequestOperation(anyRequest, configuration: .over(transport)))
        }
        let outcome = try await queue.value(of: StepChain([step, step]))
        #expect(outcome.value == Data("2".utf8) && transport.requests.count == 2)
    }

    @Test func `It waits for its dependencies`() async throws {
        let failing = Work<Int> { throw Problem() }
        let chain = StepChain(adding(1))
        chain.addDependency(failing, ifFails: .cancel)
        OperationQueue().addOperation(failing)
        #expect(await failure(of: chain) is RequestError && chain.results.isEmpty)
    }
}
