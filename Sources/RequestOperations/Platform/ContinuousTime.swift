#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The time of `ContinuousClock` as a plain number: an instant of that takes four times as long to make, and its difference
/// to another needs numbers of 128 bits.
enum ContinuousTime {
    /// Nanoseconds since some moment, the same for the whole process; those in which the machine slept count.
    static var nanoseconds: Int64 {
        #if canImport(Darwin)
            return Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW))
        #else
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        #endif
    }
}
