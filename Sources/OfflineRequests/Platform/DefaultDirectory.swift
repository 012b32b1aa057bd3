import Foundation

/// Where queues are kept if the program names no directory.
enum DefaultDirectory {
    /// Application Support on Apple's platforms; elsewhere the data directory of the XDG Base Directory Specification.
    ///
    /// It is never a cache, which the system may empty.
    static func url(environment: [String: String] = ProcessInfo.processInfo.environment) -> URL {
        base(environment).appendingPathComponent("OfflineRequests", isDirectory: true)
    }

    private static func base(_ environment: [String: String]) -> URL {
        #if canImport(Darwin)
            return FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        #else
            // The specification ignores a relative path.
            if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
                return URL(fileURLWithPath: data, isDirectory: true)
            }
            let home = environment["HOME"].map { URL(fileURLWithPath: $0, isDirectory: true) }
            return (home ?? FileManager.default.homeDirectoryForCurrentUser).appendingPathComponent(
                ".local/share", isDirectory: true)
        #endif
    }
}
