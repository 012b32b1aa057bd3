#if canImport(Network) && !os(Linux)
    import Network

    /// The monitor of the Network framework.
    final class FrameworkMonitor: PathMonitor {
        // NWPathMonitor is thread-safe, and its handler is set once, before it starts.
        private nonisolated(unsafe) let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "RequestOperations.NetworkPath")

        /// Before it starts, the monitor reports every path as unsatisfied. If we used that, its first reading, which
        /// follows at once, would count as a change.
        var initial: NetworkPath.Reading { .unknown }

        func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            monitor.pathUpdateHandler = { tell(NetworkPath.Reading($0)) }
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
