/// How many places of its queue an operation takes, and for how long.
enum PlaceDemand {
    /// None. Its parts take the places, as in a chain.
    case none
    /// One from its start to its end, if the queue has a limit.
    case whileExecuting
    /// One for each attempt, in the line of this host.
    case forAttempts(to: Origin)
}
