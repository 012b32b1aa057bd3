public import Foundation
public import RequestOperations

/// A queue of requests that outlives the process: it sends each request when the network allows, and loses none.
///
/// ```swift
/// let queue = try await OfflineRequestQueue.open(name: "outbox")
/// let id = try await queue.add(request)  // the request is on disk
/// ```
///
/// Delivery is *at least once*. Each record has an idempotency key, which is stored and sent with each delivery. A
/// server that honours `Idempotency-Key` acts on each record exactly once.
///
/// The queue stays open, and sends, until ``close(finishing:)`` or the end of the process. Several processes may open
/// one queue. One of them sends at a time. All functions can be called from any thread.
public final class OfflineRequestQueue: Sendable {
    /// The name that the queue was opened with.
    public let name: String
    /// The directory of its files; `nil` if a database server keeps the queue.
    public let directory: URL?

    let dispatcher: Dispatcher
    let addingOrder = AddingOrder()
    private let place: String?

    /// Opens a queue, and makes its files if there are none.
    ///
    /// Within a process, the same name and directory give the same queue until it is closed. The configuration of the
    /// first call counts. A damaged database is set aside and what can be read is queued again. The first events of
    /// ``events`` report this.
    ///
    /// - Parameters:
    ///   - name: The name. Any characters are allowed. `"default"` by default.
    ///   - directory: The directory of the files. By default `OfflineRequests` in Application Support, or in the data
    ///     directory of the XDG Base Directory Specification on Linux. It must be on a local disk.
    ///   - configuration: How the queue delivers.
    /// - Throws: ``OfflineQueueError``. If a file or a folder is at fault, the text names it and the reason.
    public static func open(
        name: String = "default", directory: URL? = nil, configuration: OfflineConfiguration = OfflineConfiguration()
    ) async throws -> OfflineRequestQueue {
        try await open(name: name, store: .directory(directory ?? DefaultDirectory.url()), configuration: configuration)
    }

    /// Opens a queue in a store of your choice.
    ///
    /// Within a process, the same name and store give the same queue until it is closed. The configuration of the first
    /// call counts.
    ///
    /// - Parameters:
    ///   - name: The name. Any characters are allowed. `"default"` by default.
    ///   - store: Where the records are kept.
    ///   - configuration: How the queue delivers.
    /// - Throws: ``OfflineQueueError``.
    public static func open(
        name: String = "default", store: OfflineStorage, configuration: OfflineConfiguration = OfflineConfiguration()
    ) async throws -> OfflineRequestQueue {
        let place = try await store.place(name)
        return try await OpenQueues.shared.queue(at: place) {
            let events = EventHub()
            let configuration = configuration.bounded
            let opened = try await store.open(
                OfflineStorage.Opening(name: name, configuration: configuration, onEvent: { events.send($0) }))
            return OfflineRequestQueue(
                name: name, directory: store.directory, place: place, store: opened, events: events,
                configuration: configuration)
        }
    }

    /// Makes a queue over a store, and begins to send.
    ///
    /// - Parameters:
    ///   - place: What the queue is known by in this process; `nil` if it is not shared.
    ///   - events: Where the store reports recoveries.
    ///   - configuration: How the queue delivers, ``OfflineConfiguration/bounded``.
    init(
        name: String, directory: URL?, place: String?, store: any OfflineStore, events: EventHub,
        configuration: OfflineConfiguration
    ) {
        self.name = name
        self.directory = directory
        self.place = place
        dispatcher = Dispatcher(store: store, configuration: configuration, events: events, waiters: Waiters())
        events.open()
        if configuration.startsPaused { pause() }
        dispatcher.start()
    }

    var store: any OfflineStore { dispatcher.store }
    var configuration: OfflineConfiguration { dispatcher.configuration }

    /// The steps of the queue from now on. Each call makes a stream of its own, which ends when the queue is closed.
    ///
    /// A stream begins with what happened while the queue was opened. It keeps up to 10,000 unread events.
    /// ``OfflineEvent/missed(_:)`` says how many events came while the stream was full. Steps of other processes are not
    /// included.
    public var events: AsyncStream<OfflineEvent> { dispatcher.events.stream() }

    /// Stops new deliveries in this process. A delivery under way goes on with its attempt, and makes no other.
    public func pause() {
        dispatcher.state.withLock { $0.setPaused(true) }
    }

    /// Begins deliveries again after ``pause()``.
    public func resume() {
        dispatcher.state.withLock { $0.setPaused(false) }
        dispatcher.search()
    }

    /// Whether ``pause()`` was called last.
    public var isPaused: Bool { dispatcher.state.withLock { $0.phase == .paused } }

    /// Looks again at the constraints of records that wait for one.
    public func constraintsChanged() async {
        await dispatcher.wake(.constraint)
        dispatcher.search()
    }

    /// Moves the content of SQLite's log into the database. You need not call it.
    ///
    /// When `add` returns, its record is on disk already. Call this function before you copy the files, for example.
    ///
    /// - Throws: ``OfflineQueueError``: ``OfflineQueueError/Code/busy`` if another process reads the log for too long.
    public func synchronize() async throws { try await store.checkpoint() }

    /// Closes the queue. Records stay on disk. Later calls throw ``OfflineQueueError/Code/closed``.
    ///
    /// A handler or a condition of the queue can call it. The call then returns at once, and the queue is closed when the
    /// handler or condition has returned. Nothing new begins meanwhile. The same holds for a Task that a handler starts,
    /// even after the handler has returned. A call in a detached Task waits for the end.
    ///
    /// Do not await it in an adapter or another stage of a request of the queue. It would wait for its own delivery.
    ///
    /// - Parameter isPatient: Whether attempts under way may finish. No further ones begin. Otherwise they are cancelled,
    ///   and sent again with the same key when the queue is opened the next time. `true` by default.
    public func close(finishing isPatient: Bool = true) async {
        // A later call of `open` does not wait for this queue.
        if let place { await OpenQueues.shared.remove(self, at: place) }
        dispatcher.beginClosing(isPatient: isPatient)
        let end = Task {
            await dispatcher.close(isPatient: isPatient)
            dispatcher.events.close()
        }
        if !dispatcher.isCaller { await end.value }
    }
}

extension OfflineRequestQueue: CustomStringConvertible, OpaqueReflectable {
    /// The name of the queue.
    public var description: String { "OfflineRequestQueue \(name)" }
}
