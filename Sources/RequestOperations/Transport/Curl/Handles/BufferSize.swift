#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// How much libcurl reads at a time for the transfers of a handle, at most.
    enum BufferSize: Sendable {
        /// 32 KiB, twice the default. A response then needs half as many events and system calls. The bytes are still
        /// in the processor's nearest cache when they are copied.
        case usual
        /// 64 KiB, twice what libcurl reads at a time from an HTTP/2 connection for all its streams. So the buffer is
        /// seldom full; see ``CurlLibrary/overlooksInput``. While a transfer is paused, libcurl may have to keep the
        /// decompressed content of the buffer.
        case wide
        /// 128 KiB, for large bodies that are not decompressed.
        case large

        /// Whether a smaller buffer would not be enough.
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
