/// The monitor for a system that reports nothing.
struct SilentMonitor: PathMonitor {
    var initial: NetworkPath.Reading { .unknown }

    func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {}

    func stop() {}
}
