import RequestOperations

/// Gives a file of a directory another name there, unless that is taken: as rename(2), but nothing is replaced.
///
/// - Returns: 0, or the number of the error: `EEXIST` for a name that is taken, `ENOSYS` or `EINVAL` where the system or the
///   file system cannot do it.
func renameExclusively(_ name: String, to newName: String, in directory: Int32) -> Int32 {
    #if canImport(Darwin)
        return renameatx_np(directory, name, directory, newName, UInt32(RENAME_EXCL)) == 0 ? 0 : errno
    #else
        // glibc has it from 2.28 on, but its headers show it to C programs that define _GNU_SOURCE only.
        typealias Function =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let address = dlsym(nil, "renameat2") else { return ENOSYS }
        // The type above is that of its header <stdio.h>; 1 is RENAME_NOREPLACE.
        return unsafeBitCast(address, to: Function.self)(directory, name, directory, newName, 1) == 0 ? 0 : errno
    #endif
}
