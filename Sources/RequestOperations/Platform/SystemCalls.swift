#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Renames a file within a directory, unless the new name is taken. It works like rename(2), but replaces nothing.
///
/// - Returns: 0, or the error number. `EEXIST` means that the name is taken. `ENOSYS` or `EINVAL` means that the system
///   or the file system cannot do it.
package func renameExclusively(_ name: String, to newName: String, in directory: Int32) -> Int32 {
    #if canImport(Darwin)
        return renameatx_np(directory, name, directory, newName, UInt32(RENAME_EXCL)) == 0 ? 0 : errno
    #else
        // glibc has this function from 2.28 on. But its headers show it only to C programs that define _GNU_SOURCE.
        typealias Function =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let address = dlsym(nil, "renameat2") else { return ENOSYS }
        // The type above comes from the header <stdio.h>. 1 is RENAME_NOREPLACE.
        return unsafeBitCast(address, to: Function.self)(directory, name, directory, newName, 1) == 0 ? 0 : errno
    #endif
}

/// `write(2)` under another name, for types that have a `write` member of their own.
func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}

/// Runs `body` with `SIGPIPE` blocked. A pipe without a reader is then an error of the write and does not end the
/// process.
func withoutSignalOfBrokenPipe<Result>(_ body: () throws -> Result) rethrows -> Result {
    var brokenPipe = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    defer {
        var pending = sigset_t()
        sigpending(&pending)
        var number: Int32 = 0
        if sigismember(&pending, SIGPIPE) == 1, sigismember(&before, SIGPIPE) == 0 {
            // This write caused the signal. We take it here, before the thread receives signals again.
            sigwait(&brokenPipe, &number)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
}
