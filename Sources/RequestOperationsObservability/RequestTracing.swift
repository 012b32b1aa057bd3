#if Observability
    import RequestOperations
    import Tracing

    extension RequestInstrument {
        /// Makes the spans of requests: one for each request, and a child of it for each attempt.
        static func tracing(with tracer: any Tracer) -> RequestInstrument {
            RequestInstrument {
                let traced = TracedRequest(tracer, in: .current ?? .topLevel)
                var watch = RequestWatch()
                watch.prepare = { traced.prepare(&$0, of: $1, after: $2) }
                watch.attemptFailed = { traced.failed($0) }
                watch.ended = { traced.ended($0) }
                return watch
            }
        }
    }

    private typealias Instant = DefaultTracerClock.Timestamp

    /// The spans of one request.
    ///
    /// The span of an attempt begins when the attempt is prepared, because the request carries its context. It ends when the
    /// attempt has failed or the request ends, at the instant of the timeline.
    private final class TracedRequest: Sendable {
        private struct State {
            /// The span of the request, once it has begun.
            var span: (any Span)?
            /// The spans of attempts that have not ended.
            var open: [PreparedAttempt: any Span] = [:]
            var attempts = EndedAttempts()
            /// How many steps use the spans now.
            var steps = 0
            /// What happened, once the request has ended.
            var end: RequestTimeline?

            /// Begins a step. Returns `false` if the request has ended.
            mutating func beginStep() -> Bool {
                guard end == nil else { return false }
                steps += 1
                return true
            }

            /// Ends a step. Returns what happened if the request has ended, and no other step uses its spans.
            mutating func endStep() -> RequestTimeline? {
                steps -= 1
                return steps == 0 ? end : nil
            }

            /// Takes out the spans of hedges that were not sent before an attempt.
            mutating func takeUnsentHedges(before attempt: PreparedAttempt) -> [any Span] {
                let unsent = open.keys.filter { $0.isHedge && $0.number <= attempt.number }
                return unsent.compactMap { open.removeValue(forKey: $0) }
            }
        }

        private let tracer: any Tracer
        /// The parent of the span of the request: the context of the place where the operation was made.
        private let context: ServiceContext
        private let state = Locked(State())

        init(_ tracer: any Tracer, in context: ServiceContext) { (self.tracer, self.context) = (tracer, context) }

        // MARK: Steps

        func prepare(_ request: inout URLRequest, of attempt: PreparedAttempt, after timeline: RequestTimeline) {
            step {
                finishAttempts(of: timeline)
                if !attempt.isHedge {
                    let unsent = state.withLock { $0.takeUnsentHedges(before: attempt) }
                    for span in unsent { abandon(span, at: DefaultTracerClock.now) }
                }
                let span = state.withLock { $0.open[attempt] } ?? begin(attempt, request, in: timeline)
                state.withLock { $0.open[attempt] = span }
                tracer.inject(span.context, into: &request, using: FieldInjector())
            }
        }

        func failed(_ timeline: RequestTimeline) {
            guard timeline.isRequest else { return }
            step { finishAttempts(of: timeline) }
        }

        func ended(_ timeline: RequestTimeline) {
            guard timeline.isRequest else { return }
            let isIdle = state.withLock { state in
                state.end = timeline
                return state.steps == 0
            }
            if isIdle { finish(timeline) }
        }

        /// Runs a step, unless the request has ended. If the request ends meanwhile, its spans end after the step.
        private func step(_ body: () -> Void) {
            guard state.withLock({ $0.beginStep() }) else { return }
            body()
            if let end = state.withLock({ $0.endStep() }) { finish(end) }
        }

        // MARK: Spans

        /// The span of the request. The first step begins it, before others can run at the same time.
        private func span(of timeline: RequestTimeline) -> any Span {
            if let span = state.withLock({ $0.span }) { return span }
            let method = ShownMethod(timeline.method)
            let span: any Span = tracer.startSpan(
                "request \(method.name)", context: context, ofKind: .internal, at: timeline.instant(.zero))
            span.updateAttributes { attributes in
                attributes.set(method, timeline.original)
                attributes["requestoperations.request.id"] = timeline.id.description
            }
            state.withLock { $0.span = span }
            return span
        }

        /// Begins the span of an attempt.
        private func begin(_ attempt: PreparedAttempt, _ request: URLRequest?, in timeline: RequestTimeline) -> any Span
        {
            let (parent, method) = (span(of: timeline), ShownMethod(request?.httpMethod))
            // A hedge that is prepared has no record yet.
            let record = timeline.attempts.last { PreparedAttempt($0) == attempt }
            let span: any Span = tracer.startSpan(
                method.name, context: parent.context, ofKind: .client,
                at: record.map { timeline.instant($0.began) } ?? DefaultTracerClock.now)
            span.updateAttributes { attributes in
                attributes.set(method, request?.url)
                if attempt.number > 1 { attributes[HTTPConvention.resends] = attempt.number - 1 }
                if attempt.isHedge { attributes["requestoperations.is_hedge"] = true }
            }
            return span
        }

        /// Ends the spans of the attempts that have ended. One that failed before it was prepared gets its span now.
        private func finishAttempts(of timeline: RequestTimeline) {
            for attempt in state.withLock({ $0.attempts.take(from: timeline) }) {
                let key = PreparedAttempt(attempt)
                let span =
                    state.withLock { $0.open.removeValue(forKey: key) }
                    ?? begin(key, attempt.sentRequest ?? URLRequest(timeline), in: timeline)
                finish(span, attempt, at: timeline.instant(attempt.ended ?? attempt.began))
            }
        }

        /// Ends the span of the request, and all that are left.
        private func finish(_ timeline: RequestTimeline) {
            finishAttempts(of: timeline)
            let end = timeline.instant(timeline.duration ?? .zero)
            let unsent = state.withLock { state in
                defer { state.open = [:] }
                return state.open.values.map(\.self)
            }
            for span in unsent { abandon(span, at: end) }
            let (span, error) = (span(of: timeline), timeline.error)
            span.updateAttributes { attributes in
                if let status = timeline.status { attributes[HTTPConvention.status] = status }
                attributes["requestoperations.attempt_count"] = timeline.attemptCount
                if let type = HTTPConvention.errorType(error) { attributes[HTTPConvention.errorType] = type }
            }
            span.setStatus(of: error)
            span.end(at: end)
        }

        private func finish(_ span: any Span, _ attempt: Attempt, at end: Instant) {
            span.updateAttributes { attributes in
                if let status = attempt.status { attributes[HTTPConvention.status] = status }
                if let type = attempt.errorType { attributes[HTTPConvention.errorType] = type }
                if let version = attempt.protocolVersion { attributes[HTTPConvention.version] = version }
                if let reason = attempt.waitReason {
                    attributes["requestoperations.wait.reason"] = reason.description
                    attributes["requestoperations.wait.seconds"] = attempt.waited.inSeconds
                }
                if let waited = attempt.waitedForSlot, waited > .zero {
                    attributes["requestoperations.slot.seconds"] = waited.inSeconds
                }
            }
            span.setStatus(of: attempt.error)
            // The status says what it is.
            if attempt.error == nil, attempt.errorType != nil { span.setStatus(SpanStatus(code: .error)) }
            span.end(at: end)
        }

        /// Ends the span of a hedge that was prepared and not sent.
        private func abandon(_ span: any Span, at end: Instant) {
            span.updateAttributes { $0[HTTPConvention.errorType] = "not_sent" }
            span.end(at: end)
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

    extension PreparedAttempt {
        fileprivate init(_ attempt: Attempt) { self.init(attempt.number, isHedge: attempt.isHedge) }
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
        /// Sets the method, and the URL without its secrets.
        fileprivate mutating func set(_ method: ShownMethod, _ url: URL?) {
            self[HTTPConvention.method] = method.value
            if let original = method.original { self[HTTPConvention.originalMethod] = original }
            if let url { self[HTTPConvention.url] = Redaction.default.text(of: url) }
            guard let server = Server(url) else { return }
            self[HTTPConvention.address] = server.address
            self[HTTPConvention.port] = server.port
        }
    }
#endif
