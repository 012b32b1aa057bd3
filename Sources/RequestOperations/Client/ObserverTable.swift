/// The observers of a client. A pure value.
struct ObserverTable: Sendable {
    /// Which submissions an observer is told of.
    enum Subject: Hashable, Sendable {
        case all
        case submission(RequestID)
        case path(String)
        case endpoint(EndpointKind)
    }

    /// A type of endpoint, with its subclasses.
    struct EndpointKind: Hashable, Sendable {
        private let id: ObjectIdentifier
        private let match: any EndpointMatching

        init<Subject: Endpoint>(_ type: Subject.Type) {
            id = ObjectIdentifier(type)
            match = EndpointMatch<Subject>()
        }

        func includes(_ type: Any.Type) -> Bool { match.includes(type) }

        static func == (one: EndpointKind, other: EndpointKind) -> Bool { one.id == other.id }

        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    private struct Entry {
        let id: ObjectIdentifier
        let reference: ObserverReference
        let subject: Subject
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var references: [ObserverReference] { entries.map(\.reference) }

    /// Adds an observer, unless it already observes the subject.
    mutating func add(_ reference: ObserverReference, id: ObjectIdentifier, for subject: Subject) {
        // An object may have the address of one that was freed.
        entries.removeAll { $0.id == id && $0.subject == subject }
        entries.append(Entry(id: id, reference: reference, subject: subject))
    }

    mutating func remove(_ id: ObjectIdentifier) {
        entries.removeAll { $0.id == id }
    }

    mutating func remove(_ id: ObjectIdentifier, of subject: Subject) {
        entries.removeAll { $0.id == id && $0.subject == subject }
    }

    mutating func remove(_ subject: Subject) {
        entries.removeAll { $0.subject == subject }
    }

    mutating func removeAll() {
        entries = []
    }

    /// Removes observers that no longer exist.
    mutating func remove(_ freed: [ObserverReference]) {
        let freed = Set(freed.map(ObjectIdentifier.init))
        entries.removeAll { freed.contains(ObjectIdentifier($0.reference)) }
    }

    /// The observers of a submission, in the order in which they were added.
    func observers(of submission: Submission) -> [ObserverReference] {
        entries.filter { $0.subject.includes(submission) }.map(\.reference)
    }

    /// The form of a path that is compared.
    static func key(ofPath path: String) -> String {
        path.trimmingCharacters(in: CharacterSet(charactersIn: "/"))
    }
}

extension ObserverTable.Subject {
    fileprivate func includes(_ submission: Submission) -> Bool {
        switch self {
        case .all: true
        case .submission(let id): submission.id == id
        case .path(let path): submission.path.map(ObserverTable.key) == path
        case .endpoint(let kind): submission.endpointType.map(kind.includes) ?? false
        }
    }
}

private protocol EndpointMatching: Sendable {
    func includes(_ type: Any.Type) -> Bool
}

private struct EndpointMatch<Subject: Endpoint>: EndpointMatching {
    func includes(_ type: Any.Type) -> Bool { type is Subject.Type }
}
