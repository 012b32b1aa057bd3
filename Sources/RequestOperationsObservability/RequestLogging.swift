#if Observability
    import Logging
    import RequestOperations

    /// Writes a line for each attempt that ends, and one for each request that fails.
    struct RequestLogging: Sendable {
        let logger: Logger

        var instrument: RequestInstrument {
            var instrument = RequestInstrument()
            instrument.keepsExchanges = true
            instrument.attemptFailed = { [self] in log($0, of: $1) }
            instrument.ended = { [self] in log($0) }
            return instrument
        }

        /// A failed attempt, at the level `info`.
        private func log(_ failure: AttemptFailure, of id: RequestID) {
            guard logger.logLevel <= .info else { return }
            var metadata = metadata(id, failure.request)
            metadata["attempt"] = "\(failure.attempt)"
            metadata["stage"] = "\(failure.stage.rawValue)"
            if let status = failure.head?.status { metadata[HTTPConvention.status] = "\(status)" }
            metadata[HTTPConvention.errorType] = HTTPConvention.errorType(failure.error).map { "\($0)" }
            logger.info("attempt \(failure.attempt) failed: \(failure.error.redacted)", metadata: metadata)
        }

        /// The attempts that did not fail, at the level `debug`, and a failed request, at the level `warning`.
        private func log(_ timeline: RequestTimeline) {
            guard timeline.isRequest else { return }
            if logger.logLevel <= .debug {
                for attempt in timeline.attempts where attempt.error.map({ $0 is CancellationError }) ?? true {
                    log(attempt, of: timeline)
                }
            }
            guard case .failed(let error) = timeline.outcome, logger.logLevel <= .warning else { return }
            var metadata = metadata(timeline.id, timeline.method, timeline.url)
            metadata["attempts"] = "\(timeline.attemptCount)"
            metadata["duration"] = "\((timeline.duration ?? .zero).inSeconds)"
            if let status = timeline.status { metadata[HTTPConvention.status] = "\(status)" }
            metadata[HTTPConvention.errorType] = HTTPConvention.errorType(error).map { "\($0)" }
            metadata["not_retried"] = timeline.notRetried.map { "\($0)" }
            logger.warning("request failed: \(error.redacted)", metadata: metadata)
        }

        private func log(_ attempt: Attempt, of timeline: RequestTimeline) {
            var metadata =
                attempt.sentRequest.map { self.metadata(timeline.id, $0) }
                ?? self.metadata(timeline.id, timeline.method, timeline.url)
            metadata["attempt"] = "\(attempt.number)"
            metadata["duration"] = "\((attempt.duration ?? .zero).inSeconds)"
            if let status = attempt.status { metadata[HTTPConvention.status] = "\(status)" }
            if let reason = attempt.waitReason {
                metadata["wait.reason"] = "\(reason)"
                metadata["wait"] = "\(attempt.waited.inSeconds)"
            }
            logger.debug(
                "attempt \(attempt.number) \(attempt.error == nil ? "succeeded" : "was cancelled")", metadata: metadata)
        }

        private func metadata(_ id: RequestID, _ request: URLRequest) -> Logger.Metadata {
            metadata(id, request.httpMethod ?? "GET", request.url.map { Redaction.default.text(of: $0) } ?? "")
        }

        private func metadata(_ id: RequestID, _ method: String, _ url: String) -> Logger.Metadata {
            ["request.id": "\(id)", HTTPConvention.method: "\(method)", HTTPConvention.url: "\(url)"]
        }
    }
#endif
