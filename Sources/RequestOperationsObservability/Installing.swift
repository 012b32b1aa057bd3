#if Observability
    public import CoreMetrics
    public import Logging
    public import RequestOperations
    public import Tracing

    /// Tracing, logs and metrics for all requests of a client. Each call applies to requests that are made afterwards.
    extension RequestClient {
        /// Makes a span for each request, and a client span for each of its attempts, after OpenTelemetry's conventions for
        /// HTTP clients.
        ///
        /// The context of an attempt's span is put into the fields of its request. So a server that takes part in the trace
        /// makes its span a child of the attempt. The parent of the request's span is the `ServiceContext` in which the
        /// operation was made.
        ///
        /// Only requests are traced, not the other work of a `RetryingOperation`.
        ///
        /// - Parameter tracer: Makes the spans. By default the one that the program has bootstrapped, as it is now.
        public func trace(with tracer: any Tracer = InstrumentationSystem.tracer) {
            install(.tracing(with: tracer))
        }

        /// Logs each attempt that ends, and each request that fails.
        ///
        /// An attempt that succeeded or was cancelled is logged as `debug`, a failed attempt as `info`, and a request that
        /// failed for good as `warning`. URLs are redacted, and no field or body is logged. A metadata provider of the logger
        /// sees the `ServiceContext` in which the operation was made. A failed attempt is logged when it fails. The others
        /// are logged at the next failure or the end of the request. Other work of a `RetryingOperation` is not logged.
        ///
        /// - Parameter logger: Takes the lines. Below its level, a line is not made.
        public func log(to logger: Logger) { install(.logging(to: logger)) }

        /// Measures each request and attempt, and sets gauges about the client, its queue and its hosts.
        ///
        /// `http.client.request.duration` and `http.client.active_requests` follow OpenTelemetry's conventions. The names of
        /// the others begin with `requestoperations`.
        ///
        /// - Parameters:
        ///   - factory: Makes the metrics. By default the one that the program has bootstrapped, as it is now.
        ///   - interval: How often the gauges are set from `statistics`, on the clock of the client's
        ///     configuration. 15 s by default, and at least 0.1 s. When the client is freed, they are destroyed at the
        ///     end of the interval.
        ///   - name: The value of the dimension `client` of the gauges, which tells several clients apart. No such dimension by
        ///     default.
        public func measure(
            with factory: any MetricsFactory = MetricsSystem.factory, every interval: Duration = .seconds(15),
            as name: String? = nil
        ) {
            install(.measuring(with: factory))
            StatisticsGauges(factory: factory, dimensions: name.map { [("client", $0)] } ?? [])
                .follow(self, every: interval)
        }

        private func install(_ instrument: RequestInstrument) {
            var plugin = ClientPlugin()
            plugin.instruments = [instrument]
            install(plugin)
        }
    }

    /// Tracing, logs and metrics for operations without a client.
    extension RequestConfiguration {
        /// Makes spans for the requests of operations with this configuration. See `trace(with:)` of a client.
        ///
        /// - Parameter tracer: Makes the spans. By default the one that the program has bootstrapped, as it is now.
        public mutating func trace(with tracer: any Tracer = InstrumentationSystem.tracer) {
            instruments.append(.tracing(with: tracer))
        }

        /// Logs the attempts of operations with this configuration. See `log(to:)` of a client.
        ///
        /// - Parameter logger: Takes the lines. Below its level, a line is not made.
        public mutating func log(to logger: Logger) { instruments.append(.logging(to: logger)) }

        /// Measures the requests of operations with this configuration. It sets no gauges, because those are about a client.
        ///
        /// - Parameter factory: Makes the metrics. By default the one that the program has bootstrapped, as it is now.
        public mutating func measure(with factory: any MetricsFactory = MetricsSystem.factory) {
            instruments.append(.measuring(with: factory))
        }
    }
#endif
