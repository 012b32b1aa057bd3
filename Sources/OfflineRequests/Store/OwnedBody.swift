/// A body as a store takes it.
package struct OwnedBody: Sendable {
    package let stored: StoredBody
    /// In bytes.
    package let size: Int64
    /// The checksum of a body in a file; `nil` for one in memory, which is checked with its record.
    package var checksum: Int64?

    package init(
        stored: StoredBody, size: Int64, checksum: Int64? = nil
    ) {
        self.stored = stored
        self.size = size
        self.checksum = checksum
    }
}
