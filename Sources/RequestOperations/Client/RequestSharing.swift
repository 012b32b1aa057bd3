/// Whether calls with the same request share one operation while it is in flight.
///
/// Only `async` calls share, and only with a safe method (RFC 9110, section 9.2.1, and QUERY). One request is sent, and each call
/// gets its outcome. The tag and the user info are those of the first call. A call whose Task is cancelled leaves at once. The
/// request is cancelled when the last call leaves.
public enum RequestSharing: Sendable, Hashable {
    /// The request is sent for this call alone.
    case never
    /// It is shared with calls of the same method, URL, fields, body and type of value.
    ///
    /// Adapters are not compared, because they run later. A call that changes its configuration does not share. Calls
    /// before and after a change of the client's settings do not share a request. If adapters look up the signed-in
    /// user, call ``RequestClient/cancelAll()`` when the user changes. A cancelled request is no longer shared.
    case identical
    /// It is shared with calls of the same key and type of value, whatever they would send.
    case key(String)
}

/// The shared requests of a client that are in flight.
final class Flights: Sendable {
    /// What makes two requests the same.
    struct Key: Hashable, Sendable {
        private enum Name: Hashable, Sendable {
            case given(String)
            case request(method: String, url: URL?, fields: [String: String], body: Data?, settings: Int)
        }

        private let name: Name
        private let value: ObjectIdentifier
        private let endpoint: ObjectIdentifier?

        /// Makes a key. `nil` for a request that must not be shared, such as one whose body is made for each attempt.
        ///
        /// - Parameter isStandard: Whether the call is shared if its options do not say.
        init?(_ draft: RequestClient.Draft, isStandard: Bool, _ value: Any.Type) {
            let (options, settings) = (draft.options, draft.settings.value)
            let sharing = options.sharing ?? (isStandard && settings.sharesIdenticalRequests ? .identical : .never)
            guard sharing != .never, draft.alone.problem == nil, draft.alone.makeBody == nil,
                let method = draft.alone.request.httpMethod?.uppercased(), Hedging.safeMethods.contains(method)
            else { return nil }
            if case .key(let key) = sharing {
                name = .given(key)
            } else if options.isConfigured {
                // It may have adapters of its own.
                return nil
            } else {
                let request = draft.alone.request
                name = .request(
                    method: method, url: request.url, fields: request.allHTTPHeaderFields ?? [:],
                    body: request.httpBody, settings: settings.generation)
            }
            self.value = ObjectIdentifier(value)
            endpoint = draft.endpointType.map { ObjectIdentifier($0) }
        }
    }

    private struct Flight: Sendable {
        let operation: Operation
        /// How many calls await it.
        var callers = 1
    }

    private let flights = Locked<[Key: Flight]>([:])

    /// How many requests are in flight, and how many calls await them.
    var count: Int { flights.withLock { $0.count } }
    var callers: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.callers } } }

    /// Awaits the value of a request, or of the same one in flight.
    ///
    /// - Parameters:
    ///   - operation: The operation of this call.
    ///   - key: What makes it the same as another.
    ///   - submit: Submits the operation, if there is no flight yet.
    func value<Value: Sendable>(
        of operation: URLRequestOperation<Value>, for key: Key, _ submit: (URLRequestOperation<Value>) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let shared = flights.withLock { flights in
            // A cancelled one is still there until it has ended.
            guard let known = flights[key]?.operation as? URLRequestOperation<Value>, !known.isCancelled else {
                flights[key] = Flight(operation: operation)
                return operation
            }
            flights[key]?.callers += 1
            return known
        }
        if shared === operation {
            submit(shared)
            shared.subscribeToFinish { [self, unowned shared] in
                flights.withLock { if $0[key]?.operation === shared { $0[key] = nil } }
            }
        } else {
            operation.participant?.forget()
        }
        let answer = Answer<Value>()
        // It has a result when it has finished.
        shared.subscribeToFinish { [unowned shared] in
            answer.resume(with: shared.result ?? .failure(CancellationError()))
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            if answer.resume(with: .failure(CancellationError())) { leave(key, shared) }
        }
    }

    /// A call no longer awaits an operation. Cancels the operation if it was the last.
    private func leave(_ key: Key, _ operation: Operation) {
        let isLast = flights.withLock { flights in
            guard flights[key]?.operation === operation, let callers = flights[key]?.callers else { return false }
            flights[key]?.callers = callers - 1
            if callers == 1 { flights[key] = nil }
            return callers == 1
        }
        if isLast { operation.cancel() }
    }
}
