/// What happened, in order: how much it was in all, and the last of it, up to a limit.
struct BoundedLog<Element: Sendable>: Sendable {
    /// How many were ever added.
    private(set) var count = 0
    /// Up to twice as many as are to be kept: moving the rest forward for each would take quadratic time.
    private var recent: [Element] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The last ones.
    var elements: [Element] { recent.suffix(limit) }

    /// Adds an element.
    ///
    /// - Returns: Those that are forgotten now.
    mutating func append(_ element: Element) -> [Element] {
        count += 1
        recent.append(element)
        guard recent.count / 2 > limit else { return [] }
        let forgotten = Array(recent.dropLast(limit))
        recent.removeFirst(forgotten.count)
        return forgotten
    }
}
