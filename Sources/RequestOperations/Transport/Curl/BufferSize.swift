#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// How much libcurl reads at a time for the transfers of a handle, at most.
    enum BufferSize: Sendable {
        /// 32 KiB, twice its default: half as many events and calls of the system for a response, while what is read is still in
        /// the processor's nearest cache when it is copied.
        case usual
        /// 64 KiB: twice what it reads at a time from a connection of HTTP/2, whosever it is, so that it seldom is full; see
        /// ``CurlLibrary/overlooksInput``. What it becomes when it is decompressed libcurl may have to keep while it is paused.
        case wide
        /// 128 KiB, for what is large and not decompressed.
        case large

        /// Whether less would not do.
        var isLeast: Bool { self != .usual }

        var bytes: Int {
            switch self {
            case .usual: 32 << 10
            case .wide: 64 << 10
            case .large: 128 << 10
            }
        }
    }
#endif
