import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The processor time of this thread, in seconds, which other tests do not lengthen.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
