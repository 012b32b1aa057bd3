#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The source from which the driver thread reads the body of a request. It never blocks on code of the user.
    protocol UploadSource: AnyObject, Sendable {
        /// The number of bytes, or `nil` for a body that is sent in chunks.
        var length: Int64? { get }

        /// Fills a buffer.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead

        /// Goes back to the first byte, to send the body again. Returns `false` if the source cannot.
        func rewind() -> Bool
    }
#endif
