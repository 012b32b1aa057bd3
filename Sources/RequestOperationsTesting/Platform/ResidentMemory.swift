import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// The memory of a process that is in RAM.
package enum ResidentMemory {
    /// The largest amount that a process has had so far, in bytes; `nil` if the system does not report it.
    package static func peak(of process: pid_t = getpid()) -> Int? {
        #if canImport(Darwin)
            // A process can ask only about itself. Another process would have to permit it.
            guard process == getpid() else { return nil }
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #else
            // We read a line of proc(5) such as "VmHWM: 1234 kB". (The value of getrusage(2) also counts the memory of
            // the process that started this one.)
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .ascii)
            return status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                .flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
        #endif
    }

    /// The amount that this process has now, in bytes; 0 if the system does not report it.
    package static var now: Int {
        #if canImport(Darwin)
            var info = mach_task_basic_info()
            var count = mach_msg_type_number_t(
                MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
            let status = withUnsafeMutablePointer(to: &info) { info in
                info.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                    task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
                }
            }
            return status == KERN_SUCCESS ? Int(info.resident_size) : 0
        #else
            // The second number is the number of resident pages (proc(5)).
            guard let statistics = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii),
                let pages = Int(statistics.split(separator: " ").dropFirst().first ?? "")
            else { return 0 }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #endif
    }
}
