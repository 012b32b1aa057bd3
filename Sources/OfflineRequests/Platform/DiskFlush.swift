import Foundation

/// Flushes a file to the disk.
package enum DiskFlush {
    /// Returns when the file is on the disk, also past the disk's own cache where the system can do that.
    ///
    /// - Returns: Whether it is; `errno` says why not.
    @Sendable package static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // Not every file system has this call.
            fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        #else
            fdatasync(descriptor) == 0
        #endif
    }
}
