#if canImport(Network) && !os(Linux)
    import Network
#endif

/// The monitor of this system's network; `nil` if the system reports nothing. (A sandbox may forbid it.)
func systemMonitor() -> (any PathMonitor)? {
    #if os(Linux)
        RouteMonitor()
    #elseif canImport(Network)
        FrameworkMonitor()
    #else
        nil
    #endif
}

/// Reports the state of the system's network.
protocol PathMonitor: Sendable {
    /// The first reading.
    var initial: NetworkPath.Reading { get }

    /// Reports each later reading, one at a time. It is called once.
    func start(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void)

    /// Stops all reports.
    func stop()
}

#if canImport(Network) && !os(Linux)
    final class FrameworkMonitor: PathMonitor {
        // NWPathMonitor is thread-safe, and its handler is set once, before it starts.
        private nonisolated(unsafe) let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "RequestOperations.NetworkPath")

        /// Before it starts, the monitor reports every path as unsatisfied. If we used that, its first reading, which
        /// follows at once, would count as a change.
        var initial: NetworkPath.Reading { .unknown }

        func start(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            monitor.pathUpdateHandler = { report(NetworkPath.Reading($0)) }
            monitor.start(queue: queue)
        }

        func stop() {
            monitor.cancel()
        }
    }

    extension NetworkPath.Reading {
        fileprivate init(_ path: NWPath) {
            let interface: Reachability.Interface =
                if path.usesInterfaceType(.wiredEthernet) {
                    .wired
                } else if path.usesInterfaceType(.wifi) {
                    .wifi
                } else if path.usesInterfaceType(.cellular) {
                    .cellular
                } else {
                    .other
                }
            self.init(level: path.status == .satisfied ? .routed : .none, interface: interface)
        }
    }
#endif
