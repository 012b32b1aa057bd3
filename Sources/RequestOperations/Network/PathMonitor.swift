/// Reports the state of the system's network.
protocol PathMonitor: Sendable {
    /// The first reading.
    var initial: NetworkPath.Reading { get }

    /// Reports each later reading, one at a time. It is called once.
    func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void)

    /// Stops all reports.
    func stop()
}
