public import Foundation
public import RequestOperations

extension OfflineRequestQueue {
    /// Adds a request. When this returns, the request is on disk and will be sent, even if the process ends.
    ///
    /// Adds that run at the same time share one commit. The method, the URL, the fields, the body and a time-out of its
    /// own are stored. A long body goes to a file (``OfflineConfiguration/inlineBodyLimit``).
    ///
    /// The order of the calls decides which of two requests comes first in a lane, or uses a unique key last. So a call
    /// waits while earlier calls for its lane or key write their bodies. Calls from one actor have an order.
    ///
    /// - Parameters:
    ///   - request: The request. Its body must not be a stream.
    ///   - options: How it is queued.
    ///   - unique: A key for requests that stand for the same thing. `nil` by default.
    /// - Returns: The id of the record. With a unique key it may be that of an older record.
    /// - Throws: ``OfflineQueueError``, or the error of a merge. Then nothing was added, except with
    ///   ``OfflineQueueError/Code/unflushed``.
    @discardableResult
    public func add(
        _ request: URLRequest, options: OfflineOptions = OfflineOptions(), unique: UniqueKey<URLRequest>? = nil
    ) async throws -> OfflineRecord.ID {
        guard request.httpBodyStream == nil else { throw OfflineQueueError(.unusableRequest) }
        let draft = try Draft(request, options)
        let codec = ContentCodec<URLRequest> {
            try Draft($0, options)
        } decode: {
            try await $0.wholeRequest()
        }
        return try await add(draft, request, options, unique, codec)
    }

    /// Adds requests in one commit. When this returns, all are on disk, in their order.
    ///
    /// - Parameter requests: The requests, without streams as bodies, and how each is queued.
    /// - Returns: The ids, in the order of the requests.
    /// - Throws: ``OfflineQueueError``. Then none was added, except with ``OfflineQueueError/Code/unflushed``.
    @discardableResult
    public func add(
        contentsOf requests: [(request: URLRequest, options: OfflineOptions)]
    ) async throws -> [OfflineRecord.ID] {
        let drafts = try requests.map { request, options in
            guard request.httpBodyStream == nil else { throw OfflineQueueError(.unusableRequest) }
            return (draft: try Draft(request, options), options: options)
        }
        let lines = Set(drafts.map { AddingOrder.Line.lane($0.options.lane ?? "") })
        return try await addingOrder.take(lines) { place in try await insert(drafts, in: place) }
    }

    /// Adds a request whose body is a copy of a file. The copy belongs to the queue.
    ///
    /// - Parameters:
    ///   - request: The request, without a body.
    ///   - bodyFile: The file. It can be changed or removed when this returns. It never passes through memory as a
    ///     whole.
    ///   - options: How the request is queued.
    /// - Returns: The id of the record.
    /// - Throws: ``OfflineQueueError``. Then nothing was added, except with ``OfflineQueueError/Code/unflushed``.
    @discardableResult
    public func add(
        _ request: URLRequest, bodyFile: URL, options: OfflineOptions = OfflineOptions()
    ) async throws -> OfflineRecord.ID {
        var draft = try Draft(request, options)
        draft.body = .file(bodyFile)
        return try await addingOrder.take([.lane(options.lane ?? "")]) { [draft] place in
            try await insert(draft, options, key: nil, rule: .append, in: place).id
        }
    }

    /// Adds a message. When this returns, the message is on disk.
    ///
    /// - Parameters:
    ///   - message: The message. A handler for its type must have been registered.
    ///   - options: How it is queued.
    ///   - unique: A key for messages that stand for the same thing. `nil` by default.
    /// - Returns: The id of the record. With a unique key it may be that of an older record.
    /// - Throws: ``OfflineQueueError``, or the error of a merge. Then nothing was added, except with
    ///   ``OfflineQueueError/Code/unflushed``.
    @discardableResult
    public func add<Message: Codable & Sendable>(
        _ message: Message, options: OfflineOptions = OfflineOptions(), unique: UniqueKey<Message>? = nil
    ) async throws -> OfflineRecord.ID {
        guard let handler = dispatcher.handlers.handler(for: Message.self) else {
            throw OfflineQueueError(.unregistered)
        }
        let encode: @Sendable (Message) throws -> Draft = { message in
            do { return Draft(message: handler.name, payload: try handler.encode(message), options) } catch {
                throw OfflineQueueError(.unencodable, underlying: error)
            }
        }
        let codec = ContentCodec<Message>(encode: encode) { record in
            guard record.content.message == handler.name,
                let message = try handler.decode(try await record.body.payload()) as? Message
            else { throw OfflineQueueError(.unregistered) }
            return message
        }
        return try await add(try encode(message), message, options, unique, codec)
    }

    private func add<Content: Sendable>(
        _ draft: Draft, _ content: Content, _ options: OfflineOptions, _ unique: UniqueKey<Content>?,
        _ codec: ContentCodec<Content>
    ) async throws -> OfflineRecord.ID {
        var lines: Set = [AddingOrder.Line.lane(options.lane ?? "")]
        if let unique { lines.insert(.key(unique.name)) }
        return try await addingOrder.take(lines) { place in
            try await add(draft, content, options, unique, codec, in: place)
        }
    }

    private func add<Content: Sendable>(
        _ draft: Draft, _ content: Content, _ options: OfflineOptions, _ unique: UniqueKey<Content>?,
        _ codec: ContentCodec<Content>, in place: AddingPlace
    ) async throws -> OfflineRecord.ID {
        guard let unique else { return try await insert(draft, options, key: nil, rule: .append, in: place).id }
        switch unique.policy {
        case .append: return try await insert(draft, options, key: unique.name, rule: .append, in: place).id
        case .keep: return try await insert(draft, options, key: unique.name, rule: .keep, in: place).id
        case .replace: return try await insert(draft, options, key: unique.name, rule: .replace, in: place).id
        case .merge(let merge):
            // It must see what was added before, and others must see what it adds. So it has its place until its end.
            await place.turn()
            // Your closure does not run in a transaction. If the old record changes meanwhile, we start again.
            while true {
                let old = try await store.mergeable(withKey: unique.name)
                var (merged, rule) = (draft, UniqueRule.expectNone)
                if let old {
                    let before: Content
                    do { before = try await codec.decode(old) } catch {
                        // Another merge may have removed the file of the old body.
                        if try await store.mergeable(withKey: unique.name)?.checksum != old.checksum { continue }
                        throw error
                    }
                    merged = try codec.encode(try merge(before, content))
                    rule = .update(old.id, checksum: old.checksum)
                }
                let result = try await insert(merged, options, key: unique.name, rule: rule, in: nil)
                if !result.isConflict { return result.id }
            }
        }
    }

    /// Stores a draft, and reports what happened.
    private func insert(
        _ draft: Draft, _ options: OfflineOptions, key: String?, rule: UniqueRule, in place: AddingPlace?
    ) async throws -> (id: OfflineRecord.ID, isConflict: Bool) {
        let (record, body) = try await record(of: draft, options, key: key, rule: rule)
        let result: AddResult
        do { result = try await store.add([record], bounds: configuration.bounds, in: place)[0] } catch {
            try await discard([body], after: error)
            throw error
        }
        switch result {
        case .added(let id, let ended):
            tell(id, of: draft, ended)
            dispatcher.search()
            return (id, false)
        case .kept(let id):
            if rule == .keep { try await store.discard(body) }
            dispatcher.search()
            return (id, false)
        case .conflict:
            try await store.discard(body)
            return (OfflineRecord.ID(rawValue: 0), true)
        }
    }

    /// Stores drafts in one commit, and reports what happened.
    private func insert(
        _ drafts: [(draft: Draft, options: OfflineOptions)], in place: AddingPlace
    ) async throws -> [OfflineRecord.ID] {
        var records: [NewRecord] = []
        var bodies: [OwnedBody] = []
        let results: [AddResult]
        do {
            for (draft, options) in drafts {
                let (record, body) = try await record(of: draft, options, key: nil, rule: .append)
                records.append(record)
                bodies.append(body)
            }
            results = try await store.add(records, bounds: configuration.bounds, in: place)
        } catch {
            try await discard(bodies, after: error)
            throw error
        }
        let ids = zip(drafts, results).compactMap { added, result -> OfflineRecord.ID? in
            // Without a unique key every record is added.
            guard case .added(let id, let ended) = result else { return nil }
            tell(id, of: added.draft, ended)
            return id
        }
        dispatcher.search()
        return ids
    }

    /// Removes the bodies of records that were not added.
    private func discard(_ bodies: [OwnedBody], after error: any Error) async throws {
        // Those records are in the database. A body that none of them has is removed as an orphan later.
        if case OfflineQueueError.Code.unflushed = error { return }
        for body in bodies { try await store.discard(body) }
    }

    /// Makes a record. Its body is in the store from now on.
    private func record(
        of draft: Draft, _ options: OfflineOptions, key: String?, rule: UniqueRule
    ) async throws -> (NewRecord, OwnedBody) {
        let body = try await store.keep(draft.body, inlineLimit: configuration.inlineBodyLimit)
        var content = draft.content
        content.bodyChecksum = body.checksum
        let record = NewRecord(
            content: content, body: body.stored, bodySize: body.size, lane: options.lane ?? "",
            tag: options.tag, uniqueKey: key, rule: rule, priority: options.priority,
            notBefore: options.notBefore, expires: options.expires)
        return (record, body)
    }

    private func tell(
        _ id: OfflineRecord.ID, of draft: Draft, _ ended: [(OfflineRecord.ID, OfflineOutcome)]
    ) {
        for (id, outcome) in ended { dispatcher.announce(id, outcome) }
        dispatcher.events.send(.added(id))
        if !draft.omitted.isEmpty { dispatcher.events.send(.credentialsOmitted(id, fields: draft.omitted)) }
    }
}
