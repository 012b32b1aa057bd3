/// The observers of a client, for any thread.
final class Observers: Sendable {
    private let table = Locked(ObserverTable())

    /// Whether nobody observes anything.
    var isEmpty: Bool { table.withLock { $0.isEmpty } }

    func add(_ observer: any RequestObserver, for subject: ObserverTable.Subject) {
        let reference = ObserverReference(observer)
        table.withLock { $0.add(reference, id: ObjectIdentifier(observer), for: subject) }
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
