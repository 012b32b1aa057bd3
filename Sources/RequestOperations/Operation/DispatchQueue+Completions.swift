extension DispatchQueue {
    /// Runs `whenFinished` closures one at a time, unless an operation has another queue.
    static let completions = DispatchQueue(label: "RequestOperations.completions")
}
