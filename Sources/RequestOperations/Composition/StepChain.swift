/// What a step of a ``StepChain`` does.
public enum ChainStep<Value: Sendable>: Sendable {
    /// Runs an operation, which must not be in a queue. The next step gets its value.
    case run(AsynchronousOperation<Value>)
    /// Runs nothing. The next step gets the same value as this one.
    case skip
    /// Ends the chain as a success. The steps after this one are not called.
    case stop
    /// Ends the chain with an error. Throwing the error does the same.
    case fail(any Error)
}

/// The result of a step of a ``StepChain``.
public enum ChainStepResult<Value: Sendable>: Sendable {
    /// The operation of the step succeeded with this value.
    case value(Value)
    /// The step was skipped.
    case skipped
    /// The step ended the chain as a success.
    case stopped
    /// The operation failed, or the step ended the chain with this error.
    case failed(any Error)
}

/// How a ``StepChain`` succeeded.
public struct ChainOutcome<Value: Sendable>: Sendable {
    /// The value of the last step that has one. `nil` if none has.
    public let value: Value?
    /// The result of each step that was called, in order.
    public let steps: [ChainStepResult<Value>]
    /// Whether a step stopped the chain.
    public var isStopped: Bool {
        if case .stopped? = steps.last { true } else { false }
    }
}

/// Steps that run one after the other as one operation. Each step decides what it does when the steps before it have ended.
///
/// ```swift
/// let chain = StepChain<Data>(
///     { _ in .run(URLRequestOperation(login)) },
///     { session in needsProfile ? .run(URLRequestOperation(profileRequest(of: session))) : .skip },
///     { last in last?.isEmpty == true ? .stop : .run(URLRequestOperation(feed)) })
/// queue.addOperation(chain)
/// print(try await chain.value.steps)
/// ```
///
/// All steps have one type of value. For two operations with values of different types use
/// ``AsynchronousOperation/then(_:)``. The chain is an operation: it can be awaited, cancelled, depended upon, and put into
/// a group, a batch or another chain.
///
/// - A step that stops the chain makes it succeed early: ``ChainOutcome/isStopped``. A step that throws, or whose operation
///   fails, makes the chain fail with that error. ``results`` shows which step it was.
/// - Cancelling the chain cancels the operation that runs. No further step is called. An operation that was cancelled cancels the
///   chain.
/// - In a ``RequestQueue`` the chain holds no place. Each attempt of its requests takes one.
// Unchecked like its superclass. All state of this class is in `chain`.
open class StepChain<Value: Sendable>: AsynchronousOperation<ChainOutcome<Value>>, @unchecked Sendable {
    /// Decides what a step does. Called once, on the Task of the chain, with the value of the last step that has one.
    public typealias Step = @Sendable (_ last: Value?) async throws -> ChainStep<Value>

    private struct State {
        /// The steps that have not been called.
        var steps: ArraySlice<Step>
        var results: [ChainStepResult<Value>] = []
    }

    private let chain: Locked<State>
    private let counter: OperationProgress

    /// Makes a chain.
    ///
    /// - Parameter steps: The steps, in order. Without steps the chain succeeds.
    public init(_ steps: [Step]) {
        chain = Locked(State(steps: steps[...]))
        counter = OperationProgress(ProgressState(ofMembers: steps.count))
        super.init()
    }

    /// Makes a chain.
    ///
    /// - Parameter steps: The steps, in order.
    public convenience init(_ steps: Step...) {
        self.init(steps)
    }

    /// Counts the steps that have ended. A chain that was stopped has done all of its work. Cancelling the progress cancels the
    /// chain.
    ///
    /// The operation that runs is a child, so `fractionCompleted` follows the bytes of its request. For that, read this property
    /// before the operation begins.
    public final var progress: Progress { counter.tree { [weak self] in self?.cancel() } }

    /// How many steps have ended, and how far the one that runs has come, at each change. A slow reader gets only the newest
    /// update. The stream ends with the chain, and its last element is the final count. Each access makes its own stream.
    public final var progressUpdates: AsyncStream<ProgressUpdate> { counter.updates }

    /// The results of the steps so far, in order. After the end, these are the results of all steps that were called.
    public final var results: [ChainStepResult<Value>] { chain.withLock { $0.results } }

    /// The work of the chain. The superclass calls this; do not call or override it.
    public final override func run() async throws -> ChainOutcome<Value> {
        let starter = MemberStarter.ofCurrentOperation
        var last: Value?
        while let step = chain.withLock({ $0.steps.popFirst() }) {
            try Task.checkCancellation()
            switch await run(step, after: last, by: starter) {
            case .value(let value): last = value
            case .skipped: break
            case .stopped: return ChainOutcome(value: last, steps: results)
            case .failed(let error): throw error
            }
        }
        return ChainOutcome(value: last, steps: results)
    }

    /// Asks a step what it does, does that, and notes its result.
    private func run(_ step: Step, after last: Value?, by starter: MemberStarter) async -> ChainStepResult<Value> {
        let decision: ChainStep<Value>
        do { decision = try await step(last) } catch { decision = .fail(error) }
        switch decision {
        case .run(let operation):
            return await counter.count(operation) {
                await operation.runAsLink(by: starter)
                switch operation.finalResult {
                case .success(let value): return note(.value(value))
                case .failure(let error): return note(.failed(error))
                }
            }
        case .skip: return count(.skipped)
        case .stop: return count(.stopped)
        case .fail(let error): return count(.failed(error))
        }
    }

    /// Notes the result of a step that ran no operation, and counts the step.
    private func count(_ result: ChainStepResult<Value>) -> ChainStepResult<Value> {
        defer { counter.countEnd() }
        return note(result)
    }

    private func note(_ result: ChainStepResult<Value>) -> ChainStepResult<Value> {
        chain.withLock { $0.results.append(result) }
        return result
    }

    final override var takesPlace: Bool { false }

    final override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        // We free the steps, which may hold much, outside the lock.
        _ = chain.withLock { state in
            defer { state.steps = [] }
            return state.steps
        }
        counter.change { state in
            if case .succeeded = ending { state.succeed() }
            state.end()
        }
    }
}
