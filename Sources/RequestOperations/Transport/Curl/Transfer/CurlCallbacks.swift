#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The functions that libcurl calls on the driver thread.
    enum CurlCallbacks {
        // MARK: For a transfer

        // The context is the easy handle. It lives longer than libcurl uses it.

        static let all = rocurl_callbacks(
            header: { bytes, size, count, context in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return with(context) { $0.receive(line: line) } == true ? size * count : 0
            },
            body: { bytes, size, count, context in
                let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return switch with(context, { $0.receive(content: bytes) }) {
                case .taken?: size * count
                case .paused?: Int(CURL_WRITEFUNC_PAUSE)
                // Any number other than that of the bytes is an error.
                case .stopped?, nil: size * count == 0 ? 1 : 0
                }
            },
            read: { bytes, size, count, context in
                let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                return with(context) { $0.send(into: buffer) } ?? Int(CURL_READFUNC_ABORT)
            },
            seek: { context, offset, origin in
                guard offset == 0, origin == SEEK_SET, with(context, { $0.rewind() }) == true else {
                    return CURL_SEEKFUNC_FAIL
                }
                return CURL_SEEKFUNC_OK
            },
            lookup: { _, _, context in
                with(context) { $0.lookupBegins() } == true ? 0 : 1
            },
            open: { context, _, address in
                // libcurl always passes an address.
                if with(context, { $0.mayOpen(for: address!) }) == false { return CURL_SOCKET_BAD }
                let (family, type) = (address!.pointee.family, address!.pointee.socktype)
                // A child process that another thread starts must not inherit it. libcurl before 8.19 would let it.
                let descriptor = Glibc.socket(
                    family, type | Int32(SOCK_CLOEXEC.rawValue), Int32(address!.pointee.`protocol`))
                let number = errno
                let isTaken = with(context) {
                    $0.takes(descriptor, errorNumber: number, isIPv4: family == AF_INET)
                }
                // A look-up whose transfer has ended ends at its first socket.
                guard isTaken == false else { return descriptor }
                if descriptor >= 0 { Glibc.close(descriptor) }
                return CURL_SOCKET_BAD
            },
            socket: { context, descriptor, _ in
                with(context) { $0.opens(descriptor) } == nil ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK
            },
            send: { context, _, _, _, localPort in
                let isSent = with(context) { $0.requestBegins(localPort: localPort) }
                return isSent == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            })

        // MARK: For a driver

        static let close: curl_closesocket_callback = { context, descriptor in
            // The handle gave this context to libcurl, and the driver keeps it longer than the multi handle.
            Unmanaged<ConnectionTable>.fromOpaque(context!).takeUnretainedValue().noteClosed(descriptor)
            return Glibc.close(descriptor)
        }

        /// Calls a function with the transfer that a handle serves. Returns `nil` if the transfer has left the handle.
        private static func with<Result>(
            _ context: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Result
        ) -> Result? {
            guard let transfer = Unmanaged<EasyHandle>.fromOpaque(context!).takeUnretainedValue().transfer else {
                return nil
            }
            transfer.driver.steps &+= 1
            return body(transfer)
        }
    }

    /// The directions in which a transfer is paused, in the form that `curl_easy_pause` expects.
    struct PausedDirections: OptionSet {
        let rawValue: Int32

        /// The consumer of the response has enough for now.
        static let receiving = Self(rawValue: CURLPAUSE_RECV)
        /// The source of the request's body has nothing for now.
        static let sending = Self(rawValue: CURLPAUSE_SEND)
    }
#endif
