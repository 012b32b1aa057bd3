import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// The memory of this process that is in RAM.
enum ResidentMemory {
    /// In bytes; 0 if the system does not tell.
    static var now: Int {
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
            // The second number is that of the resident pages (proc(5)).
            guard let statistics = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii),
                let pages = Int(statistics.split(separator: " ").dropFirst().first ?? "")
            else { return 0 }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #endif
    }
}
