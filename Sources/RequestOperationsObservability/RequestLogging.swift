#if Observability
    import Logging
    import RequestOperations
    import Tracing

    extension RequestInstrument {
        /// Writes a line for each attempt that ends, and one for each request that fails.
        static func logging(to logger: Logger) -> RequestInstrument {
            RequestInstrument {
                let logged = LoggedRequest(logger, in: .current)
                var watch = RequestWatch()
                // Above this level there are no lines of attempts.
                if logger.logLevel <= .info { watch.attemptFailed = { logged.logAttempts(of: $0) } }
                watch.ended = { logged.logEnd(of: $0) }
                return watch
            }
        }
    }

    /// The lines of one request.
    private final class LoggedRequest: Sendable {
        private let logger: Logger
        /// That of the place where the operation was made.
        private let context: ServiceContext?
        private let ended = Locked(EndedAttempts())

        init(_ logger: Logger, in context: ServiceContext?) { (self.logger, self.context) = (logger, context) }

        /// Logs the attempts that have ended since.
        func logAttempts(of timeline: RequestTimeline) {
            guard timeline.isRequest, logger.logLevel <= .info else { return }
            for attempt in ended.withLock({ $0.take(from: timeline) }) { log(attempt, of: timeline) }
        }

        func logEnd(of timeline: RequestTimeline) {
            logAttempts(of: timeline)
            guard timeline.isRequest, case .failed(let error) = timeline.outcome, logger.logLevel <= .warning
            else { return }
            var metadata = metadata(timeline.id, timeline.method, timeline.url)
            metadata["attempts"] = "\(timeline.attemptCount)"
            metadata["duration"] = "\((timeline.duration ?? .zero).inSeconds)"
            if let status = timeline.status { metadata[HTTPConvention.status] = "\(status)" }
            metadata[HTTPConvention.errorType] = HTTPConvention.errorType(error).map { "\($0)" }
            metadata["not_retried"] = timeline.notRetried.map { "\($0)" }
            log(.warning, "request failed: \(error.redacted)", metadata)
        }

        /// An attempt that failed, at the level `info`. Another one, at the level `debug`.
        private func log(_ attempt: Attempt, of timeline: RequestTimeline) {
            let (level, end): (Logger.Level, String) =
                switch attempt.error {
                case nil: (.debug, "succeeded")
                case is CancellationError: (.debug, "was cancelled")
                case let error?: (.info, "failed: \(error.redacted)")
                }
            guard logger.logLevel <= level else { return }
            var metadata =
                attempt.sentRequest.map { self.metadata(timeline.id, $0) }
                ?? self.metadata(timeline.id, timeline.method, timeline.url)
            metadata["attempt"] = "\(attempt.number)"
            metadata["duration"] = "\((attempt.duration ?? .zero).inSeconds)"
            metadata["stage"] = (attempt.error as? RequestError).map { "\($0.stage.rawValue)" }
            if let status = attempt.status { metadata[HTTPConvention.status] = "\(status)" }
            metadata[HTTPConvention.errorType] = attempt.errorType.map { "\($0)" }
            if let reason = attempt.waitReason {
                metadata["wait.reason"] = "\(reason)"
                metadata["wait"] = "\(attempt.waited.inSeconds)"
            }
            log(level, "attempt \(attempt.number) \(end)", metadata)
        }

        private func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
            // The last lines may be written outside the Task of the operation.
            ServiceContext.$current.withValue(context) { logger.log(level: level, message, metadata: metadata) }
        }

        private func metadata(_ id: RequestID, _ request: URLRequest) -> Logger.Metadata {
            metadata(id, request.httpMethod ?? "GET", request.url.map { Redaction.default.text(of: $0) } ?? "")
        }

        private func metadata(_ id: RequestID, _ method: String, _ url: String) -> Logger.Metadata {
            ["request.id": "\(id)", HTTPConvention.method: "\(method)", HTTPConvention.url: "\(url)"]
        }
    }
#endif
