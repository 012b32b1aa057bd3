import Foundation

/// Where the benchmarks take place: a folder in memory, and nginx, which is started when it is first asked for.
final class Testbed {
    /// The folder of all files; removed at the end.
    let folder: URL
    /// How long and how often is measured.
    let options: Options
    private var nginx: Nginx?
    private var faulty: FaultyServer?

    init(_ options: Options) throws {
        self.options = options
        // In memory where there is such a place, lest the disk be measured.
        let shared = "/dev/shm"
        let parent =
            FileManager.default.isWritableFile(atPath: shared)
            ? URL(fileURLWithPath: shared, isDirectory: true) : FileManager.default.temporaryDirectory
        folder = parent.appendingPathComponent("request-operations-benchmark-\(getpid())", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The server, running.
    func server() throws -> Nginx {
        if let nginx { return nginx }
        let started = try Nginx(in: folder, largeFileSize: options.fileSize)
        nginx = started
        return started
    }

    /// The server that does things wrong, running.
    func faultyServer() throws -> FaultyServer {
        if let faulty { return faulty }
        let started = try FaultyServer(behind: server())
        faulty = started
        return started
    }

    /// Ends the servers and removes the folder.
    func close() {
        faulty?.stop()
        nginx?.stop()
        // What is left of it is in memory only as long as the machine runs, and says who made it.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The environment of workers: without a proxy.
    var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
    }
}
