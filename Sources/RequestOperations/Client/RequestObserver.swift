/// An object that observes the requests of a ``RequestClient``.
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
    ///   - error: The error that the submission failed with, or a `CancellationError` if it was cancelled. `nil` means success.
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
    /// Adds an observer of everything that is submitted. The client holds the observer weakly, unless a plugin brought it.
    ///
    /// An observer that is added in several ways is called once for each step. An observer that is added again for the same
    /// subject moves to the end of the order.
    public func addObserver(_ observer: any RequestObserver) { observe(.all, by: observer) }

    /// Adds an observer of one request, batch, chain or group, until that ends. An observer that is added after the end is not
    /// called.
    public func addObserver(_ observer: any RequestObserver, for id: RequestID) {
        observers.add(observer, for: .submission(id))
        if let call = table.withLock({ $0.call(id) }) { return call.hearSteps() }
        // A submission that has ended meanwhile no longer removes its observers.
        observers.remove { $0 == ObjectIdentifier(observer) && $1 == .submission(id) }
    }

    /// Adds an observer of the requests with a path, as their calls or their endpoints gave it.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - path: The path. Slashes at its ends do not count.
    public func addObserver(_ observer: any RequestObserver, path: String) {
        observe(.requests(at: path), by: observer)
    }

    /// Adds an observer of the requests with a type of endpoint, or with a subclass of that type.
    public func addObserver<Subject: Endpoint>(_ observer: any RequestObserver, endpoint: Subject.Type) {
        observe(.endpoint(Observers.EndpointKind(endpoint)), by: observer)
    }

    /// Removes an observer, however it was added.
    public func removeObserver(_ observer: any RequestObserver) {
        observers.remove { id, _ in id == ObjectIdentifier(observer) }
    }

    /// Removes the observers of one submission.
    public func removeObservers(for id: RequestID) { observers.remove { $1 == .submission(id) } }

    /// Removes the observers of a path.
    public func removeObservers(path: String) { observers.remove { $1 == .requests(at: path) } }

    /// Removes the observers that were added for a type of endpoint.
    public func removeObservers<Subject: Endpoint>(endpoint: Subject.Type) {
        observers.remove { $1 == .endpoint(Observers.EndpointKind(endpoint)) }
    }

    /// Removes all observers.
    public func removeAllObservers() { observers.remove { _, _ in true } }

    /// The steps of all requests of the client from now on, as they happen.
    ///
    /// Each access makes its own stream. A stream keeps the newest 1024 unread steps, and ends with the client.
    /// ``RequestEvent/id`` is the identifier of the ``Submission``. The segments of a download report only to
    /// ``RequestConfiguration/onEvent``.
    public var events: AsyncStream<RequestEvent> {
        defer { hearAllSteps() }
        return observers.stream()
    }

    private func observe(_ subject: Observers.Subject, by observer: any RequestObserver) {
        observers.add(observer, for: subject)
        hearAllSteps()
    }

    /// From now on, the client also listens to the steps of requests that were made before anyone observed steps.
    private func hearAllSteps() { for call in table.withLock({ $0.calls }) { call.hearSteps() } }
}

/// The observers of a client, and the streams of its events.
final class Observers: Sendable {
    /// Which submissions an observer observes.
    enum Subject: Equatable, Sendable {
        case all
        case submission(RequestID)
        case path(String)
        case endpoint(EndpointKind)

        /// The requests with a path. Slashes at its ends do not count.
        static func requests(at path: String) -> Subject {
            .path(path.trimmingCharacters(in: CharacterSet(charactersIn: "/")))
        }

        fileprivate func includes(_ submission: Submission) -> Bool {
            switch self {
            case .all: true
            case .submission(let id): submission.id == id
            case .path: submission.path.map(Self.requests) == self
            case .endpoint(let kind): submission.endpointType.map(kind.match.includes) ?? false
            }
        }
    }

    /// A type of endpoint, with its subclasses.
    struct EndpointKind: Equatable, Sendable {
        private let id: ObjectIdentifier
        fileprivate let match: any EndpointMatching

        init<Subject: Endpoint>(_ type: Subject.Type) {
            id = ObjectIdentifier(type)
            match = EndpointMatch<Subject>()
        }

        static func == (one: EndpointKind, other: EndpointKind) -> Bool { one.id == other.id }
    }

    /// An entry is copied under a lock. If it held the observer itself, the copy might free the observer there.
    // Unchecked, because the reference is set only once, by `init`.
    private final class WeakReference: @unchecked Sendable {
        weak var observer: (any RequestObserver)?

        init(_ observer: any RequestObserver) {
            self.observer = observer
        }
    }

    private struct Entry: Sendable {
        let reference: WeakReference
        let id: ObjectIdentifier
        let subject: Subject
    }

    private struct State {
        var entries: [Entry] = []
        var streams: [Int: AsyncStream<RequestEvent>.Continuation] = [:]
        var lastStream = 0
    }

    private let state = Locked(State())

    deinit {
        for stream in state.withLock({ $0.streams.values }) { stream.finish() }
    }

    /// Whether nobody observes anything.
    var isEmpty: Bool { count == 0 }

    var count: Int { state.withLock { $0.entries.count } }

    /// Whether an observer or a stream receives steps.
    var wantSteps: Bool { state.withLock { !$0.entries.isEmpty || !$0.streams.isEmpty } }

    /// Adds an observer. One that observes the subject already moves to the end.
    func add(_ observer: any RequestObserver, for subject: Subject) {
        let id = ObjectIdentifier(observer)
        let entries = state.withLock { state in
            // An object may have the address of one that was freed.
            state.entries.removeAll { $0.id == id && $0.subject == subject }
            let reference = WeakReference(observer)
            state.entries.append(Entry(reference: reference, id: id, subject: subject))
            return state.entries
        }
        if entries.count.isMultiple(of: 64) { remove(entries.filter { $0.reference.observer == nil }) }
    }

    func remove(where isRemoved: (ObjectIdentifier, Subject) -> Bool) {
        state.withLock { $0.entries.removeAll { isRemoved($0.id, $0.subject) } }
    }

    private func remove(_ freed: [Entry]) {
        guard !freed.isEmpty else { return }
        let references = Set(freed.map { ObjectIdentifier($0.reference) })
        state.withLock { $0.entries.removeAll { references.contains(ObjectIdentifier($0.reference)) } }
    }

    /// Calls a closure with each observer of a submission, once, in the order in which they were added.
    func notify(about submission: Submission, _ body: (any RequestObserver) -> Void) {
        var notified: Set<ObjectIdentifier> = []
        var freed: [Entry] = []
        // The entries leave the lock first, because an observer may be freed here.
        for entry in state.withLock({ $0.entries }) where entry.subject.includes(submission) {
            guard let observer = entry.reference.observer else {
                freed.append(entry)
                continue
            }
            if notified.insert(entry.id).inserted { body(observer) }
        }
        remove(freed)
    }

    // MARK: Streams

    func stream() -> AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let number = state.withLock { state in
            state.lastStream += 1
            state.streams[state.lastStream] = continuation
            return state.lastStream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func sendToStreams(_ event: RequestEvent) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    }
}

private protocol EndpointMatching: Sendable {
    func includes(_ type: Any.Type) -> Bool
}

private struct EndpointMatch<Subject: Endpoint>: EndpointMatching {
    func includes(_ type: Any.Type) -> Bool { type is Subject.Type }
}
