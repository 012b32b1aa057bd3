#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The functions that libcurl calls on the driver thread. Their context is the easy handle, which outlives its use.
    enum CurlCallbacks {
        static let all = rocurl_callbacks(
            header: { bytes, size, count, context in
                guard let transfer = transfer(context) else { return 0 }
                return transfer.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
                    ? size * count : 0
            },
            body: { bytes, size, count, context in
                guard let transfer = transfer(context) else { return 0 }
                return switch transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
                case .taken: size * count
                case .paused: Int(CURL_WRITEFUNC_PAUSE)
                // Any other number than that of the bytes is an error.
                case .stopped: size * count == 0 ? 1 : 0
                }
            },
            read: { bytes, size, count, context in
                guard let transfer = transfer(context) else { return Int(CURL_READFUNC_ABORT) }
                return transfer.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            },
            seek: { context, offset, origin in
                guard let transfer = transfer(context), offset == 0, origin == SEEK_SET, transfer.rewind() else {
                    return CURL_SEEKFUNC_FAIL
                }
                return CURL_SEEKFUNC_OK
            },
            lookup: { _, _, context in
                transfer(context)?.lookupBegins() == true ? 0 : 1
            },
            socket: { context, descriptor, _ in
                rocurl_close_on_exec(descriptor)
                return transfer(context)?.socketOpens() == true ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR
            },
            send: { context, _, _, _, _ in
                transfer(context)?.requestBegins() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            })

        /// The transfer that a handle serves; `nil` for a handle whose transfer has left it.
        @inline(__always)
        private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            guard let context else { return nil }
            return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
        }
    }
#endif
