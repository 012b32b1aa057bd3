import CLimit
import Foundation

/// The time and the processor time of this process, or of its children, at a moment.
struct Usage {
    private let instant = ContinuousClock.now
    private let usage: rusage

    /// Whose processor time counts.
    enum Subject: __rusage_who_t {
        case process = 0  // RUSAGE_SELF
        case children = -1  // RUSAGE_CHILDREN
    }

    /// Reads both now.
    init(_ subject: Subject = .process) {
        var usage = rusage()
        getrusage(subject.rawValue, &usage)
        self.usage = usage
    }

    /// The seconds since an earlier moment.
    func seconds(since earlier: Usage) -> Double {
        earlier.instant.duration(to: instant) / .seconds(1)
    }

    /// The seconds of processor time, user and system, since an earlier moment.
    func cpuSeconds(since earlier: Usage) -> Double {
        cpuSeconds - earlier.cpuSeconds
    }

    /// The largest resident size so far, in megabytes: of the children, that of the largest one.
    var peak: Double { Double(usage.ru_maxrss) * 1024 / 1e6 }

    private var cpuSeconds: Double {
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}

/// What the system tells of a process in `/proc`.
struct ProcessStatus {
    private let lines: [Substring]

    /// Reads the status of a process, by default of this one; `nil` if there is none.
    init?(of process: Int32 = getpid()) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        lines = text.split(separator: "\n")
    }

    /// The resident size in bytes.
    var resident: Double { number("VmRSS") * 1024 }
    /// The largest resident size in bytes, since the start or `resetPeak()`.
    var peak: Double { number("VmHWM") * 1024 }
    /// The number of threads.
    var threads: Double { number("Threads") }

    /// The resident size of this process in bytes.
    static var resident: Double { ProcessStatus()?.resident ?? .nan }

    /// The resident size of this process in bytes, once freed memory has been given back.
    static var residentAfterTrim: Double {
        climit_trim()
        return resident
    }

    /// The largest resident size of this process in bytes.
    static var peak: Double { ProcessStatus()?.peak ?? .nan }

    /// Lets the peak of this process begin anew at its present size.
    static func resetPeak() throws {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    /// The number of descriptors that this process has open.
    static func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    private func number(_ name: String) -> Double {
        let line = lines.first { $0.hasPrefix(name + ":") }
        let digits = line?.drop { !$0.isNumber }.prefix { $0.isNumber }
        return digits.flatMap { Double($0) } ?? .nan
    }
}
