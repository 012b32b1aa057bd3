/// The observers of a client, for any thread.
final class Observers: Sendable {
    private let table = Locked(ObserverTable())

    /// Whether nobody observes anything.
    var isEmpty: Bool { table.withLock { $0.isEmpty } }

    var count: Int { table.withLock { $0.count } }

    func add(_ observer: any RequestObserver, for subject: ObserverTable.Subject) {
        let reference = ObserverReference(observer)
        let count = table.withLock { table in
            table.add(reference, id: ObjectIdentifier(observer), for: subject)
            return table.count
        }
        if count.isMultiple(of: Self.entriesUntilCheck) { removeFreed() }
    }

    /// After so many more entries, those of freed observers are removed.
    private static let entriesUntilCheck = 64

    /// Removes the entries of observers that no longer exist.
    private func removeFreed() {
        // The observers leave the lock first, because one may be freed here.
        let freed = table.withLock { $0.references }.filter { $0.observer == nil }
        table.withLock { $0.remove(freed) }
    }

    func change(_ change: (inout ObserverTable) -> Void) {
        table.withLock { change(&$0) }
    }

    /// Calls a closure with each observer of a submission, once.
    func tell(of submission: Submission, _ body: (any RequestObserver) -> Void) {
        var told: Set<ObjectIdentifier> = []
        var freed: [ObserverReference] = []
        // The observers leave the lock first, because one may be freed here.
        for reference in table.withLock({ $0.observers(of: submission) }) {
            guard let observer = reference.observer else {
                freed.append(reference)
                continue
            }
            if told.insert(ObjectIdentifier(observer)).inserted { body(observer) }
        }
        if !freed.isEmpty { table.withLock { $0.remove(freed) } }
    }
}
