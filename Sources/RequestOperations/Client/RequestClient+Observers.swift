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
