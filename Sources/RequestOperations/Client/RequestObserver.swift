/// An object that is told what the requests of a ``RequestClient`` do.
///
/// The client holds it weakly. Its functions are called on the client's ``RequestClient/callbackQueue``, for one request in
/// the order of its steps, with the end last. A class of the main actor declares the functions `nonisolated`.
public protocol RequestObserver: AnyObject, Sendable {
    /// A request has made a step. Called for each step except the end. Does nothing by default.
    func submission(_ submission: Submission, didReport event: RequestEvent)

    /// A request, a batch, a chain or a group has ended. Called once. Does nothing by default.
    ///
    /// - Parameters:
    ///   - submission: What has ended. Its ``Submission/operation`` has the result.
    ///   - error: The error that it failed with, a `CancellationError` if it was cancelled. `nil` means success.
    func submission(_ submission: Submission, didEndWith error: (any Error)?)
}

extension RequestObserver {
    /// Does nothing.
    public func submission(_ submission: Submission, didReport event: RequestEvent) {}
    /// Does nothing.
    public func submission(_ submission: Submission, didEndWith error: (any Error)?) {}
}

/// Observing.
extension RequestClient {
    /// Adds an observer of everything that is submitted. The client does not keep the observer, except one of a plugin.
    ///
    /// One that is added in several ways is called once for each step. One that is added again for the same subject
    /// moves to the end of their order.
    public func addObserver(_ observer: any RequestObserver) {
        observers.add(observer, for: .all)
    }

    /// Adds an observer of one request, batch, chain or group, until that has ended. One that comes after the end is not
    /// told.
    public func addObserver(_ observer: any RequestObserver, for id: RequestID) {
        observers.add(observer, for: .submission(id))
        // One that has ended meanwhile does not remove its observers any more.
        if submission(id) == nil { observers.change { $0.remove(ObjectIdentifier(observer), of: .submission(id)) } }
    }

    /// Adds an observer of the requests with a path, as their calls or their endpoints gave it.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - path: The path. Slashes at its ends do not count.
    public func addObserver(_ observer: any RequestObserver, path: String) {
        observers.add(observer, for: .path(ObserverTable.key(ofPath: path)))
    }

    /// Adds an observer of the requests with a type of endpoint, or with a subclass of that type.
    public func addObserver<Subject: Endpoint>(_ observer: any RequestObserver, endpoint: Subject.Type) {
        observers.add(observer, for: .endpoint(ObserverTable.EndpointKind(endpoint)))
    }

    /// Removes an observer, however it was added.
    public func removeObserver(_ observer: any RequestObserver) {
        observers.change { $0.remove(ObjectIdentifier(observer)) }
    }

    /// Removes the observers of one submission.
    public func removeObservers(for id: RequestID) {
        observers.change { $0.remove(.submission(id)) }
    }

    /// Removes the observers of a path.
    public func removeObservers(path: String) {
        observers.change { $0.remove(.path(ObserverTable.key(ofPath: path))) }
    }

    /// Removes the observers that were added for a type of endpoint.
    public func removeObservers<Subject: Endpoint>(endpoint: Subject.Type) {
        observers.change { $0.remove(.endpoint(ObserverTable.EndpointKind(endpoint))) }
    }

    /// Removes all observers.
    public func removeAllObservers() {
        observers.change { $0.removeAll() }
    }

    /// The steps of all requests of the client from now on, as they happen.
    ///
    /// Every call makes a stream of its own. A stream keeps the newest 1024 steps that were not read yet. It ends with the
    /// client. ``RequestEvent/id`` is that of the ``Submission``.
    public var events: AsyncStream<RequestEvent> { streams.stream() }
}

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

/// Refers to an observer without keeping it.
// Unchecked, because the weak reference is set only once, by `init`.
final class ObserverReference: @unchecked Sendable {
    private(set) weak var observer: (any RequestObserver)?

    init(_ observer: any RequestObserver) {
        self.observer = observer
    }
}

/// The streams of all steps of a client's requests.
final class EventStreams: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<RequestEvent>.Continuation] = [:]
        var last = 0
    }

    private let state = Locked(State())

    deinit {
        for continuation in state.withLock({ $0.continuations.values }) { continuation.finish() }
    }

    func stream() -> AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let number = state.withLock { state in
            state.last += 1
            state.continuations[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ event: RequestEvent) {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }
}
