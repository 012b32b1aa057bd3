/// A first-in, first-out line. Appending and taking cost constant time on average, regardless of its length.
struct Line<Element> {
    /// The places before `start` are empty.
    private var slots: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == slots.count }

    var count: Int { slots.count - start }

    var first: Element? { isEmpty ? nil : slots[start] }

    var elements: [Element] { slots[start...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        slots = elements.filter { !isRemoved($0) }
        start = 0
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            slots[start] = nil
            start += 1
            if 2 * start > slots.count {
                slots.removeFirst(start)
                start = 0
            }
        }
        return slots[start]
    }
}

/// What is told one at a time and in order, whatever threads it comes from. A pure value.
///
/// The thread that must tell calls ``next()`` until there is nothing more. What others add meanwhile, it tells too.
struct TellingLine<News> {
    private var untold = Line<News>()
    private var isTelling = false

    /// Adds news. Returns whether the caller must tell.
    mutating func add(_ news: News) -> Bool {
        untold.append(news)
        defer { isTelling = true }
        return !isTelling
    }

    /// The next news. If there are none, records that no thread tells any more.
    mutating func next() -> News? {
        isTelling = !untold.isEmpty
        return untold.popFirst()
    }
}
