import RequestOperations

private let client = RequestClient()

#if canImport(Tracing)
    import CoreMetrics
    import Logging
    import Tracing

    private let tracer = InstrumentationSystem.tracer
    private let factory = MetricsSystem.factory
    private let logger = Logger(label: "requests")
#else
    // Without the trait there are no packages, so these stand in for what the trait adds.
    private let (tracer, factory, logger) = ((), (), ())

    extension RequestClient {
        fileprivate func trace(with tracer: Void) {}
        fileprivate func measure(with factory: Void, as name: String) {}
        fileprivate func log(to logger: Void) {}
    }
#endif
