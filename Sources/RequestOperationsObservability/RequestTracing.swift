#if Observability
    import RequestOperations
    import Tracing

    /// Makes the spans of requests: one for each request, and a child of it for each attempt.
    ///
    /// A span begins when its attempt is prepared, because the request carries its context. It ends when the next attempt is
    /// prepared or the request ends, at the instant of the timeline.
    final class RequestTracing: Sendable {
        private let tracer: any Tracer
        private let requests = Locked<[RequestID: TracedRequest]>([:])

        init(_ tracer: any Tracer) { self.tracer = tracer }

        var instrument: RequestInstrument {
            var instrument = RequestInstrument()
            instrument.keepsExchanges = true
            instrument.prepare = { [self] in prepare(&$0, $1) }
            instrument.ended = { [self] in end($0) }
            return instrument
        }

        // MARK: Steps

        private func prepare(_ request: inout URLRequest, _ timeline: RequestTimeline) {
            guard let last = timeline.attempts.last else { return }
            let traced = requests.withLock { $0[timeline.id] } ?? begin(timeline)
            close(traced, timeline)
            let isHedge = last.sent != nil
            let number = isHedge ? timeline.attemptCount + 1 : last.number
            let span =
                traced.span(of: number, isHedge: isHedge)
                ?? begin(
                    number, isHedge: isHedge, of: traced, request, at: isHedge ? nil : timeline.instant(last.began))
            tracer.inject(span.context, into: &request, using: FieldInjector())
        }

        private func end(_ timeline: RequestTimeline) {
            guard timeline.isRequest else { return }
            let traced = requests.withLock { $0.removeValue(forKey: timeline.id) } ?? begin(timeline, isKept: false)
            close(traced, timeline)
            let end = timeline.instant(timeline.duration ?? .zero)
            for span in traced.end() { abandon(span, at: end) }
            let error = timeline.error
            traced.span.updateAttributes { attributes in
                if let status = timeline.status { attributes[HTTPConvention.status] = status }
                attributes["requestoperations.attempt_count"] = timeline.attemptCount
                if let type = HTTPConvention.errorType(error) { attributes[HTTPConvention.errorType] = type }
            }
            traced.span.setStatus(of: error)
            traced.span.end(at: end)
        }

        // MARK: Spans

        /// Begins the span of a request. Its parent is the context of the place where the operation was made.
        private func begin(_ timeline: RequestTimeline, isKept: Bool = true) -> TracedRequest {
            let method = HTTPConvention.method(timeline.method)
            let span: any Span = tracer.startSpan(
                "request \(method)", context: .current ?? .topLevel, ofKind: .internal, at: timeline.instant(.zero))
            span.updateAttributes { attributes in
                attributes[HTTPConvention.method] = method
                attributes[HTTPConvention.url] = timeline.url
                attributes.set(Server(timeline.original))
                attributes["requestoperations.request.id"] = timeline.id.description
            }
            let traced = TracedRequest(span)
            if isKept { requests.withLock { $0[timeline.id] = traced } }
            return traced
        }

        /// Begins the span of an attempt.
        ///
        /// - Parameter instant: When the attempt began. `nil` means now.
        private func begin(
            _ number: Int, isHedge: Bool, of traced: TracedRequest, _ request: URLRequest?, at instant: Instant?
        ) -> any Span {
            let method = HTTPConvention.method(request?.httpMethod)
            let span: any Span = tracer.startSpan(
                method, context: traced.span.context, ofKind: .client, at: instant ?? DefaultTracerClock.now)
            span.updateAttributes { attributes in
                attributes[HTTPConvention.method] = method
                if let method = request?.httpMethod, HTTPConvention.method(method) != method {
                    attributes["http.request.method_original"] = method
                }
                if let url = request?.url { attributes[HTTPConvention.url] = Redaction.default.text(of: url) }
                attributes.set(Server(request?.url))
                if number > 1 { attributes[HTTPConvention.resends] = number - 1 }
            }
            let stale = traced.open(number, span, isHedge: isHedge)
            if let stale { abandon(stale, at: DefaultTracerClock.now) }
            return span
        }

        /// Ends the spans of the attempts that have ended.
        private func close(_ traced: TracedRequest, _ timeline: RequestTimeline) {
            for attempt in timeline.attempts {
                guard let ended = attempt.ended else { continue }
                switch traced.close(attempt.number, isHedge: attempt.isHedge) {
                case .open(let span): finish(span, attempt, at: timeline.instant(ended))
                case .closed: break
                case .missing:
                    // It failed before its request was prepared.
                    let request = attempt.sentRequest ?? URLRequest(timeline)
                    let span = begin(
                        attempt.number, isHedge: attempt.isHedge, of: traced, request,
                        at: timeline.instant(attempt.began))
                    _ = traced.close(attempt.number, isHedge: attempt.isHedge)
                    finish(span, attempt, at: timeline.instant(ended))
                }
            }
        }

        private func finish(_ span: any Span, _ attempt: Attempt, at end: Instant) {
            span.updateAttributes { attributes in
                if let status = attempt.status { attributes[HTTPConvention.status] = status }
                if let type = HTTPConvention.errorType(attempt.error) { attributes[HTTPConvention.errorType] = type }
                if let version = attempt.protocolVersion { attributes[HTTPConvention.version] = version }
                if attempt.isHedge { attributes["requestoperations.is_hedge"] = true }
                if let reason = attempt.waitReason {
                    attributes["requestoperations.wait.reason"] = reason.description
                    attributes["requestoperations.wait.seconds"] = attempt.waited.inSeconds
                }
                if let waited = attempt.waitedForSlot, waited > .zero {
                    attributes["requestoperations.slot.seconds"] = waited.inSeconds
                }
            }
            span.setStatus(of: attempt.error)
            span.end(at: end)
        }

        /// Ends the span of a hedge that was prepared and not sent.
        private func abandon(_ span: any Span, at end: Instant) {
            span.updateAttributes { $0[HTTPConvention.errorType] = "not_sent" }
            span.end(at: end)
        }
    }

    private typealias Instant = DefaultTracerClock.Timestamp

    /// The spans of one request that have not ended.
    private final class TracedRequest: Sendable {
        enum Closing {
            case open(any Span)
            /// It has ended.
            case closed
            /// It has not begun.
            case missing
        }

        private struct State {
            var open: [Int: (span: any Span, isHedge: Bool)] = [:]
            /// The highest number of an attempt whose span has begun, hedges that were not sent left out.
            var last = 0
        }

        let span: any Span
        private let state = Locked(State())

        init(_ span: any Span) { self.span = span }

        /// The span of an attempt that is prepared again.
        func span(of number: Int, isHedge: Bool) -> (any Span)? {
            state.withLock { state in
                state.open[number].flatMap { $0.isHedge == isHedge ? $0.span : nil }
            }
        }

        /// Keeps the span of an attempt. Returns that of a hedge with the same number, which was not sent.
        func open(_ number: Int, _ span: any Span, isHedge: Bool) -> (any Span)? {
            state.withLock { state in
                if !isHedge { state.last = max(state.last, number) }
                return state.open.updateValue((span, isHedge), forKey: number)?.span
            }
        }

        /// Takes out the span of an attempt that has ended.
        func close(_ number: Int, isHedge: Bool) -> Closing {
            state.withLock { state in
                if let open = state.open[number], open.isHedge == isHedge {
                    state.open[number] = nil
                    state.last = max(state.last, number)
                    return .open(open.span)
                }
                return number <= state.last ? .closed : .missing
            }
        }

        /// Takes out the spans that are left.
        func end() -> [any Span] {
            state.withLock { state in
                defer { state.open = [:] }
                return state.open.values.map(\.span)
            }
        }
    }

    /// Puts the context of a span into the fields of a request.
    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
            request.setValue(value, forHTTPHeaderField: key)
        }
    }

    extension RequestTimeline {
        /// An instant of a tracer.
        ///
        /// - Parameter moment: The time since the operation became ready.
        fileprivate func instant(_ moment: Duration) -> Instant {
            let seconds = startDate.timeIntervalSince1970 + moment.inSeconds
            return Instant(nanosecondsSinceEpoch: UInt64(max(seconds, 0) * 1e9))
        }
    }

    extension URLRequest {
        /// The request of an attempt that failed before it was processed.
        fileprivate init?(_ timeline: RequestTimeline) {
            guard let url = timeline.original else { return nil }
            self.init(url: url)
            httpMethod = timeline.method
        }
    }

    extension Span {
        /// A cancelled request is no error. Its `error.type` says `cancelled`.
        fileprivate func setStatus(of error: (any Error)?) {
            guard let error, !(error is CancellationError) else { return }
            setStatus(SpanStatus(code: .error, message: error.redacted))
        }
    }

    extension SpanAttributes {
        fileprivate mutating func set(_ server: Server?) {
            guard let server else { return }
            self[HTTPConvention.address] = server.address
            self[HTTPConvention.port] = server.port
        }
    }
#endif
