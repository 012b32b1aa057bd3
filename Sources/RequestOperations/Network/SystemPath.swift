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
