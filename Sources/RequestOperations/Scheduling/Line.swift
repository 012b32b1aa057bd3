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
