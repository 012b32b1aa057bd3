import CLimit
import Foundation

/// Where and with what was measured.
struct Machine: Codable, Sendable {
    let processor: String
    let cores: Int
    let memoryGiB: Int
    let system: String
    let swift: String
    let libcurl: String
    let nginx: String
    let asyncHTTPClient: String

    /// Asks the system.
    init() {
        let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }
        processor = model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGiB = Int(ProcessInfo.processInfo.physicalMemory >> 30)
        system = ProcessInfo.processInfo.operatingSystemVersionString
        libcurl = String(cString: climit_curl_version())
        swift = Self.version { try Tool.output(Tool.find("swift", orInstall: "swift"), ["--version"]) }
        nginx = Self.version { try Nginx.version() }
        asyncHTTPClient = "1.37.0"  // As the package's manifest pins it.
    }

    /// The average number of running processes in the last minute, with this benchmark among them.
    static var load: String {
        let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        return text?.split(separator: " ").first.map(String.init) ?? "unknown"
    }

    /// The nanoseconds in which a cache line goes from one processor to another and back, 0 if there is only one. On a virtual
    /// machine it changes as the host moves its processors: what one thread leaves to another costs several times as much
    /// where they share no cache.
    static var processorDistance: Int { Int(climit_processor_distance()) }

    private static func version(_ ask: () throws -> String) -> String {
        // A tool that is missing is no reason to measure nothing: those that are needed complain themselves.
        (try? ask())?.split(separator: "\n").first.map(String.init) ?? "unknown"
    }
}

extension Machine: CustomStringConvertible {
    var description: String {
        """
        \(processor), \(cores) cores, \(memoryGiB) GiB, \(system)
        \(swift)
        \(libcurl)
        \(nginx), AsyncHTTPClient \(asyncHTTPClient)
        """
    }
}
