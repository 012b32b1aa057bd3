/// Which part of a process's descriptors connections may take: a pure value.
///
/// The kernel gives a new descriptor the lowest free number. So its number tells how many are open in the whole process. No
/// account of them is needed.
package struct DescriptorShare: Sendable, Hashable {
    /// How many descriptors the process may have open (the soft limit of `RLIMIT_NOFILE`).
    package let limit: Int64

    package init(limit: Int64) {
        self.limit = max(limit, 0)
    }

    /// How many are left free for files, look-ups and the runtime, as far as connections are concerned. Dispatch ends the process
    /// when it finds none.
    package var reserve: Int64 { min(max(24, min(limit / 8, 256)), limit / 2) }

    /// How many descriptors there may be in the process with the last connection that is made.
    package var bound: Int64 { limit - reserve }

    /// The same for the first connection of a transport. A process may have opened almost all of its descriptors for
    /// something else, and its requests still go on, one after the other.
    var lastBound: Int64 { limit - min(8, limit / 2) }

    /// Whether a new connection may keep its descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The number that the kernel gave it.
    ///   - isFirst: Whether its transport has no other connection.
    ///   - filesToOpen: For how many files that will be opened later descriptors are left.
    func allows(_ descriptor: Int32, isFirst: @autoclosure () -> Bool = false, filesToOpen: Int = 0) -> Bool {
        Int64(descriptor) < bound - Int64(filesToOpen) || Int64(descriptor) < lastBound && isFirst()
    }
}
