/// What is to happen, taken out in the order of time; what is due at the same time in the order in which it was added.
struct EventHeap<Event> {
    private struct Entry {
        let time: Int64
        let number: Int
        let event: Event

        func comes(before other: Entry) -> Bool { (time, number) < (other.time, other.number) }
    }

    /// A binary heap: each entry comes before the two at twice its place and one and two more.
    private var entries: [Entry] = []
    private var lastNumber = 0

    /// Adds an event.
    mutating func add(_ event: Event, at time: Int64) {
        lastNumber += 1
        let entry = Entry(time: time, number: lastNumber, event: event)
        var place = entries.count
        entries.append(entry)
        while place > 0, entry.comes(before: entries[(place - 1) / 2]) {
            entries[place] = entries[(place - 1) / 2]
            place = (place - 1) / 2
        }
        entries[place] = entry
    }

    /// Takes out the next event that is due before a time; `nil` if there is none.
    mutating func next(before end: Int64) -> (time: Int64, event: Event)? {
        guard let first = entries.first, first.time < end, let last = entries.popLast() else { return nil }
        if !entries.isEmpty { sink(last) }
        return (first.time, first.event)
    }

    /// Puts an entry in place of the first one.
    private mutating func sink(_ entry: Entry) {
        var place = 0
        while true {
            var child = 2 * place + 1
            if child + 1 < entries.count, entries[child + 1].comes(before: entries[child]) { child += 1 }
            guard child < entries.count, entries[child].comes(before: entry) else { break }
            entries[place] = entries[child]
            place = child
        }
        entries[place] = entry
    }
}
