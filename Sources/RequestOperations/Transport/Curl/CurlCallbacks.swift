#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The functions that libcurl calls on the driver thread.
    enum CurlCallbacks {
        // MARK: For a transfer

        // The context is the easy handle, which outlives its use.

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
                return transfer(context)?.opens(descriptor) == true ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR
            },
            send: { context, _, _, _, _ in
                transfer(context)?.requestBegins() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            })

        // MARK: For a driver

        // The context is its set of sockets.

        static let wait: curl_socket_callback = { easy, descriptor, interest, context, _ in
            // `CURL_POLL_REMOVE` has neither of the two bits.
            let interest = SocketWatch.Interest(rawValue: UInt8(interest)).intersection([.input, .output])
            guard !sockets(context).want(interest, of: descriptor) else { return 0 }
            transfer(rocurl_context(easy))?.cannotWait()
            return 0
        }

        static let setTimer: curl_multi_timer_callback = { _, milliseconds, context in
            sockets(context).setTimer(milliseconds: milliseconds)
            return 0
        }

        static let close: curl_closesocket_callback = { context, descriptor in
            sockets(context).closes(descriptor)
            return Glibc.close(descriptor)
        }

        @inline(__always)
        private static func sockets(_ context: UnsafeMutableRawPointer?) -> SocketSet {
            // What a driver gave libcurl together with the functions above; it outlives its multi handle.
            Unmanaged<SocketSet>.fromOpaque(context!).takeUnretainedValue()
        }

        /// The transfer that a handle serves; `nil` for a handle whose transfer has left it.
        @inline(__always)
        private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            guard let context else { return nil }
            return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
        }
    }
#endif
