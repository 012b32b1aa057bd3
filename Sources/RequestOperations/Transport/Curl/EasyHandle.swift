#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One easy handle of libcurl, used for one transfer after another.
    ///
    /// What belongs to the configuration of the transport is set once. A plain GET then needs its URL alone, and of that the
    /// target if the one before went to the same origin; a handle that served anything else is reset for the next transfer.
    // Unchecked: used by one side at a time: the Task before the transfer is submitted and after it has ended, the driver
    // thread in between.
    final class EasyHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
        // Whoever uses the handle is alone with it: unchecked, as what the callbacks ask for time and again is in `CurlTransfer`.
        /// The transfer that the handle serves.
        @exclusivity(unchecked) var transfer: CurlTransfer? {
            didSet { served = transfer.map(Unmanaged.passUnretained) }
        }
        /// The same, as libcurl's callbacks find it.
        @exclusivity(unchecked) private(set) var served: Unmanaged<CurlTransfer>?

        /// Why no request may be sent with this handle: libcurl refused an option, and goes on as if it had not been set.
        private(set) var refusal: RequestError?

        let bufferSize: BufferSize
        /// Whether it can serve no other transfer, since libcurl keeps something of the last one that no reset takes away.
        private(set) var isWornOut = false
        /// Whether the body of the response is decoded.
        private(set) var decodesBody = true
        private let errorText: UnsafeMutablePointer<CChar>
        private let settings: HandleSettings
        private let sockets: SocketSet
        /// The fields of a request that has other ones than every request.
        @exclusivity(unchecked) private var fields: CurlList?
        /// Whether options beyond those of a plain GET were set.
        private var isSpecial = false
        private var isSecure: Bool?
        private var connectLimit: Duration?
        private var asksForFreshConnection = false
        private var keepsConnection = true
        /// Whether the request asks for the end of its connection.
        private var endsConnection = false
        /// Where the requests go that are told their target alone; `nil` if the handle has a whole URL.
        private var origin: CurlOrigin?

        init(_ settings: HandleSettings, _ sockets: SocketSet, _ bufferSize: BufferSize) {
            self.bufferSize = bufferSize
            self.settings = settings
            self.sockets = sockets
            guard let pointer = curl_easy_init() else {
                // As everywhere in Swift, memory that is not there ends the process.
                preconditionFailure("There is no memory for a transfer.")
            }
            self.pointer = pointer
            errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
            errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            // A new one takes any.
            _ = setBufferSize()
            setUp()
        }

        deinit {
            curl_easy_cleanup(pointer)
            curl_slist_free_all(fields)
            errorText.deallocate()
        }

        private func setUp() {
            refusal = settings.objection
            settings.apply(to: self)
            set(CURLOPT_ERRORBUFFER, pointer: errorText)
            set(CURLOPT_HTTPHEADER, pointer: settings.fields)
            var callbacks = CurlCallbacks.all
            note(
                rocurl_set_callbacks(pointer, &callbacks, Unmanaged.passUnretained(self).toOpaque()),
                rocurl_option_send_function)
            note(
                rocurl_set_close(pointer, CurlCallbacks.close, Unmanaged.passUnretained(sockets).toOpaque()),
                CURLOPT_CLOSESOCKETFUNCTION)
            isSecure = nil
            connectLimit = nil
            isSpecial = false
            asksForFreshConnection = false
            keepsConnection = true
            origin = nil
        }

        /// `false` for a handle that has kept its buffer, but reads no more than the default at a time: before version 8.7 libcurl
        /// may keep that of a transfer that failed or shared its connection, forgets its size in a reset, and takes no size for a
        /// handle that has a buffer.
        private func setBufferSize() -> Bool {
            rocurl_set_long(pointer, CURLOPT_BUFFERSIZE, bufferSize.bytes) == CURLE_OK
        }

        // MARK: Options

        // An option that is refused is noted, and the handle sends nothing.

        func set(_ option: CURLoption, _ value: Int) {
            note(rocurl_set_long(pointer, option, value), option)
        }

        func set(_ option: CURLoption, _ value: String?) {
            // What Swift makes of a string for a parameter is a copy of it.
            let code =
                if let value {
                    value.withCString { rocurl_set_string(pointer, option, $0) }
                } else {
                    rocurl_set_string(pointer, option, nil)
                }
            note(code, option)
        }

        func set(_ option: CURLoption, size: Int64) {
            note(rocurl_set_offset(pointer, option, size), option)
        }

        func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) {
            note(rocurl_set_pointer(pointer, option, value), option)
        }

        /// The memory must live as long as this handle.
        func set(_ option: CURLoption, _ memory: UnsafeMutableRawBufferPointer) {
            note(rocurl_set_blob(pointer, option, memory.baseAddress, memory.count), option)
        }

        private func note(_ code: CURLcode, _ option: CURLoption) {
            guard code != CURLE_OK, refusal == nil else { return }
            // Of a refused option nothing may be left for the next request.
            isSpecial = true
            refusal = RequestError(
                .unsupported, stage: .transfer, underlying: CurlError(code),
                reason: "libcurl \(CurlLibrary.version) does not take its option \(option.rawValue) as it is to be set")
        }

        // MARK: Use

        /// Prepares the handle for a transfer.
        ///
        /// - Parameters:
        ///   - request: What to send.
        ///   - body: Where a body comes from that is not sent with the head; `nil` if there is none.
        ///   - smallBody: A body that libcurl copies and sends with the head; `nil` if there is none.
        ///   - connectLimit: The limit for connecting, of which libcurl gives each address of a host its part.
        func prepare(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, connectLimit: Duration?
        ) {
            forgetMessage()
            setURL(of: request)
            if isSecure != request.isSecure { settings.applyVersions(to: self, isSecure: request.isSecure) }
            isSecure = request.isSecure
            if asksForFreshConnection {
                set(CURLOPT_FRESH_CONNECT, 0)
                asksForFreshConnection = false
            }
            endsConnection = request.fields.endsConnection
            keepConnection(true)
            if self.connectLimit != connectLimit {
                // The driver keeps the limit itself, a little earlier.
                let milliseconds = (connectLimit?.nanoseconds ?? .max) / 1_000_000
                set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: milliseconds.adding(500))))
                self.connectLimit = connectLimit
            }
            if settings.keepsCookies, !request.handlesCookies { leaveCookies() }
            // The cookies of later requests would be those of that host, wherever they go.
            if settings.keepsCookies, request.fields.hasHost, CurlLibrary.keepsCookieHosts { isWornOut = true }
            var lines = request.fields.lines
            decodesBody = request.fields.decodesBody
            if !decodesBody {
                set(CURLOPT_ACCEPT_ENCODING, nil)
                isSpecial = true
            }
            // A reset shows whether it has kept its buffer, which is too much to wait with.
            if bufferSize == .large { isSpecial = true }
            setMethod(request, body: body, smallBody: smallBody, &lines)
            guard !lines.isEmpty || !request.fields.decodesBody else { return }
            if !request.fields.hasUserAgent, let line = settings.userAgentLine { lines.append(line) }
            if request.fields.decodesBody, let line = HandleSettings.codingsLine { lines.append(line) }
            for line in lines {
                if settings.keepsCookies, let cookies = CurlRequest.cookies(in: line) {
                    // libcurl joins them with those of its jar: two fields would be one too many (RFC 6265, section 5.4).
                    set(CURLOPT_COOKIE, cookies)
                    isSpecial = true
                } else {
                    fields.append(line)
                }
            }
            set(CURLOPT_HTTPHEADER, pointer: fields)
        }

        /// Tells libcurl the target alone where it can: it takes each URL apart, puts it together again and keeps both, which is
        /// a sixth of all that it does for a small response.
        private func setURL(of request: CurlRequest) {
            guard !settings.needsWholeURLs, let offset = request.targetOffset, goesTo(request, upTo: offset) else {
                if origin != nil {
                    set(CURLOPT_REQUEST_TARGET, nil)
                    set(CURLOPT_CURLU, pointer: nil)
                    origin = nil
                }
                return set(CURLOPT_URL, request.text)
            }
            note(
                request.text.withCString { rocurl_set_string(pointer, CURLOPT_REQUEST_TARGET, $0 + offset) },
                CURLOPT_REQUEST_TARGET)
        }

        /// Has the handle go to the origin that stands in the text of a request up to an offset, if libcurl understands it.
        private func goesTo(_ request: CurlRequest, upTo offset: Int) -> Bool {
            if let origin, origin.isIn(request.text, upTo: offset) { return true }
            guard let next = CurlOrigin(request.text, upTo: offset) else { return false }
            // What it sends again goes to the text.
            set(CURLOPT_URL, next.text)
            set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(next.pointer))
            origin = next
            return true
        }

        /// Takes the jar away from the transfer; the reset after it gives it back.
        private func leaveCookies() {
            isSpecial = true
            // In this order: without a file, libcurl would throw away the cookies of a jar that is its own.
            rocurl_set_cookies(pointer, nil)
            set(CURLOPT_COOKIEFILE, nil)
        }

        private func setMethod(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, _ lines: inout [String]
        ) {
            if let body {
                isSpecial = true
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_INFILESIZE_LARGE, size: body.length ?? -1)
                if (body.length ?? 0) >= 1 << 20 { set(CURLOPT_UPLOAD_BUFFERSIZE, 128 << 10) }
                // libcurl would wait for a `100 Continue` before every body sent this way.
                if !request.fields.hasExpectation, (body.length ?? 0) <= 1 << 20 { lines.append("Expect:") }
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
                        set(CURLOPT_COPYPOSTFIELDS, pointer: start ?? UnsafeMutableRawPointer(nothing))
                    }
                }
                if !request.fields.hasContentType { lines.append("Content-Type:") }
                if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
            } else if request.method == "HEAD" {
                isSpecial = true
                set(CURLOPT_NOBODY, 1)
            } else if request.method != "GET" {
                isSpecial = true
                set(CURLOPT_CUSTOMREQUEST, request.method)
            }
            let isUpload = body != nil || smallBody != nil
            if isUpload, settings.mustEndItself(request) { set(CURLOPT_KEEP_SENDING_ON_ERROR, 1) }
        }

        /// Whatever libcurl sends again from now on goes over a connection that has served nobody else.
        func askForFreshConnection() {
            guard !asksForFreshConnection else { return }
            asksForFreshConnection = true
            set(CURLOPT_FRESH_CONNECT, 1)
        }

        /// Has the connection that the transfer makes be one of HTTP/2 without TLS, which none is by itself where
        /// ``HandleSettings/makesConnectionsApart(isSecure:)``.
        func askForHTTP2() {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
            // For the one after it, the version is to be set anew.
            isSecure = nil
        }

        /// Has the transfer make a connection where libcurl would have it wait for what others find out about theirs.
        func connectRatherThanWait() {
            guard isSecure != nil else { return }
            set(CURLOPT_PIPEWAIT, 0)
            // For the one after it, that is to be set anew with the version.
            isSecure = nil
        }

        /// The transfer waits for a connection. libcurl 8 would count that as time for connecting: the driver keeps the limit
        /// alone then.
        func liftConnectLimit() {
            guard CurlLibrary.countsWaitsAsConnecting, connectLimit != nil else { return }
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            connectLimit = nil
        }

        /// Whether the connection of the transfer is kept at its end if nobody else uses it then. (A transport that keeps
        /// none keeps it in no case, nor is it kept if the request asks for its end.)
        func keepConnection(_ isKept: Bool) {
            let isKept = isKept && !endsConnection
            guard keepsConnection != isKept else { return }
            keepsConnection = isKept
            set(CURLOPT_FORBID_REUSE, isKept && settings.keepsConnections ? 0 : 1)
        }

        /// Hands over the body of the running transfer as it came.
        func deliverUndecoded() {
            isSpecial = true
            set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        }

        /// Has libcurl look at the transfer and its connection in the next turn: it does so after a pause.
        ///
        /// - Parameter mask: How the transfer is paused.
        @discardableResult func run(paused mask: Int32 = CURLPAUSE_CONT) -> CURLcode {
            _ = curl_easy_pause(pointer, mask | CURLPAUSE_RECV)
            return curl_easy_pause(pointer, mask)
        }

        /// The handle is to serve no other transfer: it keeps something of this one that no reset takes away.
        func wearOut() {
            isWornOut = true
        }

        /// Whether libcurl must not begin anew with the handle, see ``CurlLibrary/remembersFreedFields``. (A field may be there
        /// that no callback was told of, as the first one of HTTP/2 is before its head is whole.)
        var cannotBeginAnew: Bool { CurlLibrary.remembersFreedFields && rocurl_stores_fields(pointer) }

        /// What libcurl says of the last failure; it names hosts, never credentials, and here nothing that a server wrote.
        var message: String? {
            errorText.pointee == 0 ? nil : CurlLibrary.withoutQuotations(String(cString: errorText))
        }

        func forgetMessage() {
            errorText.pointee = 0
        }

        /// Makes the handle ready for another transfer.
        func recycle() {
            transfer = nil
            if CurlLibrary.remembersFreedFields { isWornOut = true }
            if isWornOut { return }
            if isSpecial {
                // Older versions of libcurl lose the names of files for cookies in a reset.
                if settings.keepsCookies { _ = rocurl_set_string(pointer, CURLOPT_COOKIEFILE, nil) }
                curl_easy_reset(pointer)
                if setBufferSize() || !bufferSize.isLeast { setUp() } else { isWornOut = true }
            } else if fields != nil {
                _ = rocurl_set_pointer(pointer, CURLOPT_HTTPHEADER, settings.fields)
            }
            curl_slist_free_all(fields)
            fields = nil
        }
    }
#endif
