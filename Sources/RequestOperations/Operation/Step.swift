/// What one step of an operation's work led to.
///
/// Each step runs in a Task of its own. Between two steps there is no Task, because a suspended one costs several KiB.
enum Step<Value: Sendable>: Sendable {
    case finished(Value)
    /// The next step begins when this wait is over.
    case waits(RetryWait)
}
