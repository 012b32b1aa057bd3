#if canImport(Network)
    import Network
#endif

/// The monitor of this system's network.
enum SystemPath {
    static func monitor() -> any PathMonitor {
        #if os(Linux)
            // A sandbox may forbid the socket.
            RouteMonitor() ?? SilentMonitor()
        #elseif canImport(Network)
            FrameworkMonitor()
        #else
            SilentMonitor()
        #endif
    }
}

/// Where the system tells nothing.
struct SilentMonitor: PathMonitor {
    var initial: NetworkPath.Reading { .unknown }

    func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {}

    func stop() {}
}

#if canImport(Network) && !os(Linux)
    /// The Network framework's.
    final class FrameworkMonitor: PathMonitor {
        // NWPathMonitor is thread-safe: its handler is set before it is started, once.
        private nonisolated(unsafe) let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "RequestOperations.NetworkPath")

        /// Before it was started the monitor calls every path unsatisfied. Were that believed, its first reading, which
        /// follows at once, would be a change.
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
