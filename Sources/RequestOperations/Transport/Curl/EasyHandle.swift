#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One easy handle of libcurl, used for one transfer after another.
    ///
    /// What belongs to the configuration of the transport is set once. A plain GET then needs its URL alone; a handle that
    /// served anything else is reset for the next transfer.
    // Unchecked: used by one side at a time: the Task before the transfer is submitted and after it has ended, the driver
    // thread in between.
    final class EasyHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
        /// The transfer that the handle serves: what libcurl's callbacks find.
        var transfer: CurlTransfer?

        private let errorText: UnsafeMutablePointer<CChar>
        private let settings: HandleSettings
        private var fields: UnsafeMutablePointer<curl_slist>?
        /// Whether options beyond those of a plain GET were set.
        private var isSpecial = false
        private var isSecure: Bool?
        private var connectLimit: Duration?
        private var asksForFreshConnection = false

        init(_ settings: HandleSettings) {
            self.settings = settings
            guard let pointer = curl_easy_init() else {
                // As everywhere in Swift, memory that is not there ends the process.
                preconditionFailure("There is no memory for a transfer.")
            }
            self.pointer = pointer
            errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
            errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            setUp()
        }

        deinit {
            curl_easy_cleanup(pointer)
            curl_slist_free_all(fields)
            errorText.deallocate()
        }

        private func setUp() {
            settings.apply(to: self)
            _ = rocurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
            var callbacks = CurlCallbacks.all
            rocurl_set_callbacks(pointer, &callbacks, Unmanaged.passUnretained(self).toOpaque())
            isSecure = nil
            connectLimit = nil
            isSpecial = false
            asksForFreshConnection = false
        }

        // MARK: Options

        /// Sets an option that is known to every supported version; a wrong one is a mistake of ours.
        func set(_ option: CURLoption, _ value: Int) {
            let code = rocurl_set_long(pointer, option, value)
            assert(code == CURLE_OK, "Option \(option.rawValue) was refused: \(code.rawValue)")
        }

        func set(_ option: CURLoption, _ value: String?) {
            let code = rocurl_set_string(pointer, option, value)
            assert(code == CURLE_OK, "Option \(option.rawValue) was refused: \(code.rawValue)")
        }

        func set(_ option: CURLoption, size: Int64) {
            let code = rocurl_set_offset(pointer, option, size)
            assert(code == CURLE_OK, "Option \(option.rawValue) was refused: \(code.rawValue)")
        }

        // MARK: Use

        /// Prepares the handle for a transfer.
        ///
        /// - Parameters:
        ///   - request: What to send.
        ///   - body: Where a body comes from that is not sent with the head; `nil` if there is none.
        ///   - smallBody: A body that libcurl copies and sends with the head; `nil` if there is none.
        ///   - isLarge: Whether the response is expected to be large, as files are.
        ///   - connectLimit: The limit for connecting, of which libcurl gives each address of a host its part.
        func prepare(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, isLarge: Bool, connectLimit: Duration?
        ) {
            errorText.pointee = 0
            set(CURLOPT_URL, request.text)
            if isSecure != request.isSecure { settings.applyVersions(to: self, isSecure: request.isSecure) }
            isSecure = request.isSecure
            if asksForFreshConnection {
                set(CURLOPT_FRESH_CONNECT, 0)
                asksForFreshConnection = false
            }
            if self.connectLimit != connectLimit {
                // The driver keeps the limit itself, a little earlier.
                let milliseconds = (connectLimit?.nanoseconds ?? .max) / 1_000_000
                set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: milliseconds.adding(500))))
                self.connectLimit = connectLimit
            }
            var lines = request.lines
            if !request.decodesBody {
                set(CURLOPT_ACCEPT_ENCODING, nil)
                isSpecial = true
            }
            if isLarge {
                set(CURLOPT_BUFFERSIZE, 512 << 10)
                isSpecial = true
            }
            setMethod(request, body: body, smallBody: smallBody, &lines)
            for line in lines { fields = curl_slist_append(fields, line) }
            if fields != nil { _ = rocurl_set_pointer(pointer, CURLOPT_HTTPHEADER, fields) }
        }

        private func setMethod(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, _ lines: inout [String]
        ) {
            if let body {
                isSpecial = true
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_INFILESIZE_LARGE, size: body.length ?? -1)
                if (body.length ?? 0) >= 1 << 20 { set(CURLOPT_UPLOAD_BUFFERSIZE, 512 << 10) }
                // libcurl would wait for a `100 Continue` before every body sent this way.
                if !request.hasExpectation, (body.length ?? 0) <= 1 << 20 { lines.append("Expect:") }
                if request.method != "PUT" { set(CURLOPT_CUSTOMREQUEST, request.method) }
            } else if let smallBody {
                isSpecial = true
                set(CURLOPT_POST, 1)
                set(CURLOPT_POSTFIELDSIZE_LARGE, size: Int64(smallBody.count))
                smallBody.withUnsafeBytes { bytes in
                    var nothing: UInt8 = 0
                    let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                    // The bytes are copied here. Without an address libcurl would read the body from the callback.
                    withUnsafeMutablePointer(to: &nothing) { nothing in
                        _ = rocurl_set_pointer(
                            pointer, CURLOPT_COPYPOSTFIELDS, start ?? UnsafeMutableRawPointer(nothing))
                    }
                }
                if !request.hasContentType { lines.append("Content-Type:") }
                if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
            } else if request.method == "HEAD" {
                isSpecial = true
                set(CURLOPT_NOBODY, 1)
            } else if request.method != "GET" {
                isSpecial = true
                set(CURLOPT_CUSTOMREQUEST, request.method)
            }
        }

        /// Whatever libcurl sends again from now on goes over a connection that has served nobody else.
        func askForFreshConnection() {
            guard !asksForFreshConnection else { return }
            asksForFreshConnection = true
            set(CURLOPT_FRESH_CONNECT, 1)
        }

        /// Hands over the body of the running transfer as it came.
        func deliverUndecoded() {
            isSpecial = true
            set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        }

        /// What libcurl says of the last failure; it names hosts, never credentials.
        var message: String? { errorText.pointee == 0 ? nil : String(cString: errorText) }

        /// Makes the handle ready for another transfer.
        func recycle() {
            transfer = nil
            if isSpecial {
                curl_easy_reset(pointer)
                setUp()
            } else if fields != nil {
                _ = rocurl_set_pointer(pointer, CURLOPT_HTTPHEADER, nil)
            }
            curl_slist_free_all(fields)
            fields = nil
        }
    }

    /// The easy handles of a transport that serve no transfer now.
    final class EasyHandlePool: Sendable {
        private let settings: HandleSettings
        private let idle = Locked<[EasyHandle]>([])
        private static let limit = 256

        init(_ settings: HandleSettings) {
            self.settings = settings
        }

        func take() -> EasyHandle {
            idle.withLock { $0.popLast() } ?? EasyHandle(settings)
        }

        func give(_ handle: EasyHandle) {
            handle.recycle()
            let surplus: EasyHandle? = idle.withLock { idle in
                guard idle.count < Self.limit else { return handle }
                idle.append(handle)
                return nil
            }
            // Freed outside the lock.
            withExtendedLifetime(surplus) {}
        }

        func removeAll() {
            let handles = idle.withLock { idle in
                defer { idle = [] }
                return idle
            }
            withExtendedLifetime(handles) {}
        }
    }
#endif
