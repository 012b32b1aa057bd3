/// A binary heap with its least element at the front.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }
    var count: Int { elements.count }

    mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> Element? {
        guard !elements.isEmpty else { return nil }
        elements.swapAt(0, elements.count - 1)
        let first = elements.removeLast()
        siftDown(from: 0)
        return first
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements.removeAll(where: isRemoved)
        for parent in stride(from: elements.count / 2 - 1, through: 0, by: -1) { siftDown(from: parent) }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < elements.count, elements[left] < elements[least] { least = left }
            if left + 1 < elements.count, elements[left + 1] < elements[least] { least = left + 1 }
            guard least != parent else { return }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}
