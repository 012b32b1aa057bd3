/// A log in order. It counts everything, and keeps the last elements up to a limit.
struct BoundedLog<Element: Sendable>: Sendable {
    /// How many elements were ever added.
    private(set) var count = 0
    /// It holds up to twice the limit. If each append moved the elements forward, the time would be quadratic.
    private var recent: [Element] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The last elements, up to the limit.
    var elements: [Element] { recent.suffix(limit) }

    /// Adds an element.
    ///
    /// - Returns: The elements that the log drops now.
    mutating func append(_ element: Element) -> [Element] {
        count += 1
        recent.append(element)
        guard recent.count / 2 > limit else { return [] }
        let forgotten = Array(recent.dropLast(limit))
        recent.removeFirst(forgotten.count)
        return forgotten
    }
}
