#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One easy handle of libcurl, used for one transfer after another.
    ///
    /// The options from the transport's configuration are set once. After that, a plain GET needs only its URL. After any
    /// other request, the handle is reset for the next transfer.
    // Unchecked: only one side uses it at a time. That is the Task before the transfer is submitted and after it has
    // ended, and the driver thread in between.
    final class EasyHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
        /// The transfer that the handle serves.
        var transfer: CurlTransfer?
        /// Why no request may be sent with this handle. libcurl refused an option, and would go on without it.
        private(set) var refusal: RequestError?

        /// Whether it can serve no other transfer, because libcurl keeps some state of the last one that no reset
        /// removes.
        var isWornOut = false
        /// Whether the body of the response is decoded.
        private(set) var decodesBody = true
        /// Whether libcurl adds an expectation to the request. (It adds none over HTTP/2.)
        private(set) var addsExpectation = false
        private let errorText: UnsafeMutablePointer<CChar>
        private let settings: HandleSettings
        private let sockets: ConnectionTable
        /// The fields of a request that has more than the fields of every request.
        private var fields: CurlList?
        /// Whether options beyond those of a plain GET were set.
        private var isSpecial = false
        private var versions = 0
        /// Whether the request asks for the end of its connection.
        private var endsConnection = false

        /// How much libcurl reads at a time, at most: 64 KiB. That is twice what it reads at a time from an HTTP/2 connection.
        /// Before 8.1, it forgets the rest of its input there when the buffer is full.
        private static let bufferSize = 64 << 10

        init(_ settings: HandleSettings, _ sockets: ConnectionTable) {
            self.settings = settings
            self.sockets = sockets
            // As everywhere in Swift, a lack of memory ends the process.
            pointer = curl_easy_init()!
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
            refusal = settings.objection
            // Before 8.7, libcurl may keep the buffer of a transfer that failed, and then accepts no size.
            if rocurl_set_long(pointer, CURLOPT_BUFFERSIZE, Self.bufferSize) != CURLE_OK { isWornOut = true }
            settings.apply(to: self)
            set(CURLOPT_ERRORBUFFER, pointer: errorText)
            set(CURLOPT_HTTPHEADER, pointer: settings.fields)
            var callbacks = CurlCallbacks.all
            note(
                rocurl_set_callbacks(
                    pointer, &callbacks, Unmanaged.passUnretained(self).toOpaque(),
                    Unmanaged.passUnretained(sockets).toOpaque()), CURLOPT_PREREQFUNCTION)
            if CurlLibrary.remembersFreedFields { set(CURLOPT_HEADER, 1) }
            isSpecial = false
        }

        // MARK: Options

        // An option that is refused is noted, and the handle sends nothing.

        func set(_ option: CURLoption, _ value: Int) {
            note(rocurl_set_long(pointer, option, value), option)
        }

        func set(_ option: CURLoption, _ value: String?) {
            note(rocurl_set_pointer(pointer, option, value), option)
        }

        func set(_ option: CURLoption, size: Int64) {
            note(rocurl_set_offset(pointer, option, size), option)
        }

        func set(_ option: CURLoption, pointer value: UnsafeRawPointer?) {
            note(rocurl_set_pointer(pointer, option, value), option)
        }

        /// The memory must live as long as this handle.
        func set(_ option: CURLoption, _ memory: UnsafeMutableRawBufferPointer) {
            note(rocurl_set_blob(pointer, option, memory.baseAddress, memory.count), option)
        }

        /// Sets the function that gets the `SSL_CTX` of each new connection.
        func setContextFunction(_ function: @escaping curl_ssl_ctx_callback) {
            note(rocurl_set_context_function(pointer, function), CURLOPT_SSL_CTX_FUNCTION)
        }

        private func note(_ code: CURLcode, _ option: CURLoption) {
            guard code != CURLE_OK, refusal == nil else { return }
            // The next request must not inherit anything of a refused option.
            isSpecial = true
            refusal = RequestError(
                .unsupported, stage: .transfer, underlying: CurlError(code),
                reason: "libcurl \(CurlLibrary.version) refuses the value of its option \(option.rawValue)")
        }

        // MARK: Use

        /// Prepares the handle for a transfer.
        ///
        /// - Parameters:
        ///   - request: What to send.
        ///   - body: The source of a body that is not sent with the head; `nil` if there is none.
        ///   - smallBody: A body that libcurl copies and sends with the head; `nil` if there is none.
        ///   - connectLimit: The limit for connecting. libcurl gives each address of a host a part of it.
        ///   - expectsNothing: Whether libcurl adds no expectation.
        func prepare(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, connectLimit: Duration?,
            expectsNothing: Bool = false
        ) {
            forgetMessage()
            addsExpectation = !expectsNothing && !request.fields.hasExpectation && (body?.length ?? 0) > 1 << 20
            set(CURLOPT_URL, request.text)
            if CurlLibrary.losesEmptyQueries { setEmptyQuery(of: request) }
            setVersions(settings.versions(isSecure: request.isSecure))
            set(CURLOPT_FRESH_CONNECT, 0)
            endsConnection = request.fields.endsConnection
            keepConnection(true)
            // The driver enforces the limit itself, a little earlier.
            let milliseconds = (connectLimit?.nanoseconds ?? .max) / 1_000_000
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: milliseconds.adding(500))))
            if settings.keepsCookies, !request.handlesCookies { leaveCookies() }
            // libcurl would use that host's cookies for all later requests, regardless of where they go.
            if settings.keepsCookies, request.fields.hasHost, CurlLibrary.keepsCookieHosts { isWornOut = true }
            var lines = request.fields.lines
            decodesBody = request.fields.decodesBody
            if !decodesBody {
                set(CURLOPT_ACCEPT_ENCODING, nil)
                isSpecial = true
            }
            setMethod(request, body: body, smallBody: smallBody, &lines)
            guard !lines.isEmpty || !request.fields.decodesBody else { return }
            if !request.fields.hasUserAgent, let line = settings.userAgentLine { lines.append(line) }
            if request.fields.decodesBody, let line = HandleSettings.codingsLine { lines.append(line) }
            for line in lines {
                if settings.keepsCookies, let cookies = CurlRequest.cookies(in: line) {
                    // libcurl joins them with the cookies of its jar. Two fields would be one too many (RFC 6265,
                    // section 5.4).
                    set(CURLOPT_COOKIE, cookies)
                    isSpecial = true
                } else {
                    fields.append(line)
                }
            }
            set(CURLOPT_HTTPHEADER, pointer: fields)
        }

        /// Sets the target of a request whose query is empty; see ``CurlLibrary/losesEmptyQueries``.
        private func setEmptyQuery(of request: CurlRequest) {
            let text = request.text.prefix { $0 != "#" }
            guard text.hasSuffix("?"), !settings.mayUseProxy,
                let start = text.dropFirst(8).firstIndex(where: { $0 == "/" || $0 == "?" })
            else { return }
            isSpecial = true
            set(CURLOPT_REQUEST_TARGET, text[start] == "/" ? String(text[start...]) : "/?")
        }

        /// Takes the jar away for this transfer. The reset after it gives the jar back.
        private func leaveCookies() {
            isSpecial = true
            // The order matters: without a file, libcurl would throw away the cookies of a jar that is its own.
            rocurl_set_cookies(pointer, nil)
            set(CURLOPT_COOKIEFILE, nil)
        }

        private func setMethod(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, _ lines: inout [String]
        ) {
            var usual = "GET"
            if let body {
                usual = "PUT"
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_INFILESIZE_LARGE, size: body.length ?? -1)
                if (body.length ?? 0) >= 1 << 20 { set(CURLOPT_UPLOAD_BUFFERSIZE, 128 << 10) }
                // libcurl would wait for a `100 Continue` before every body sent this way.
                if !request.fields.hasExpectation, !addsExpectation { lines.append("Expect:") }
            } else if let smallBody {
                usual = "POST"
                set(CURLOPT_POST, 1)
                set(CURLOPT_POSTFIELDSIZE_LARGE, size: Int64(smallBody.count))
                // The bytes are copied here. Without an address libcurl would read the body from the callback.
                if smallBody.isEmpty { set(CURLOPT_COPYPOSTFIELDS, "") }
                smallBody.withUnsafeBytes { bytes in
                    if let start = bytes.baseAddress, !bytes.isEmpty { set(CURLOPT_COPYPOSTFIELDS, pointer: start) }
                }
                if !request.fields.hasContentType { lines.append("Content-Type:") }
            } else if request.method == "HEAD" {
                usual = "HEAD"
                set(CURLOPT_NOBODY, 1)
            }
            if request.method != usual { set(CURLOPT_CUSTOMREQUEST, request.method) }
            if usual != "GET" || request.method != usual { isSpecial = true }
        }

        /// From now on, everything that libcurl sends again goes over a new connection.
        func askForFreshConnection() {
            set(CURLOPT_FRESH_CONNECT, 1)
        }

        /// Makes libcurl use a new connection that speaks HTTP/2 without TLS; see ``CurlTransfer/makesConnectionsApart``.
        func askForFreshHTTP2() {
            askForFreshConnection()
            setVersions(Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }

        /// Whether a new connection without TLS speaks HTTP/2.
        var makesHTTP2: Bool { versions == Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) }

        private func setVersions(_ versions: Int) {
            self.versions = versions
            set(CURLOPT_HTTP_VERSION, versions)
        }

        /// The transfer waits for a connection. libcurl 8 would count that as time for connecting, so only the driver
        /// enforces the limit then.
        func liftConnectLimit() {
            if CurlLibrary.countsWaitsAsConnecting { set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max)) }
        }

        /// Sets whether the connection is kept at the end of the transfer if no other transfer uses it then. (It is
        /// never kept if the transport keeps no connections, or if the request asks for its end.)
        func keepConnection(_ isKept: Bool) {
            set(CURLOPT_FORBID_REUSE, isKept && !endsConnection && settings.keepsConnections ? 0 : 1)
        }

        /// Delivers the body of the running transfer without decoding it.
        func deliverUndecoded() {
            isSpecial = true
            set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        }

        /// libcurl's message about the last failure. It names hosts, but never credentials. Text that a server wrote is
        /// removed here.
        var message: String? {
            errorText.pointee == 0 ? nil : CurlLibrary.withoutQuotations(String(cString: errorText))
        }

        func forgetMessage() {
            errorText.pointee = 0
        }

        /// Makes the handle ready for another transfer.
        func recycle() {
            transfer = nil
            if isWornOut { return }
            if isSpecial {
                // Older versions of libcurl lose the names of cookie files in a reset.
                if settings.keepsCookies { _ = rocurl_set_pointer(pointer, CURLOPT_COOKIEFILE, nil) }
                curl_easy_reset(pointer)
                setUp()
            } else if fields != nil {
                _ = rocurl_set_pointer(pointer, CURLOPT_HTTPHEADER, settings.fields)
            }
            curl_slist_free_all(fields)
            fields = nil
        }
    }

    /// The easy handles of a transport that serve no transfer now.
    final class EasyHandlePool: Sendable {
        private let settings: HandleSettings
        private let sockets: ConnectionTable
        private let idle = Locked<[EasyHandle]>([])
        private static let limit = 256

        init(_ settings: HandleSettings, _ sockets: ConnectionTable) {
            self.settings = settings
            self.sockets = sockets
        }

        func take() -> EasyHandle {
            idle.withLock { $0.popLast() } ?? EasyHandle(settings, sockets)
        }

        func release(_ handle: EasyHandle) {
            handle.recycle()
            if handle.isWornOut { return }
            // A handle too many is freed outside the lock, by the caller.
            idle.withLock { if $0.count < Self.limit { $0.append(handle) } }
        }

        func removeAll() {
            let handles = idle.withLock { idle in
                defer { idle = [] }
                return idle
            }
            withExtendedLifetime(handles) {}
        }
    }

    /// What libcurl reports about the transfer that a handle serves.
    extension EasyHandle {
        /// How many bytes of the request's body were sent so far.
        var sent: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) }

        /// How many bytes of the response's body have come so far, before decompression.
        var received: Int64 { offset(CURLINFO_SIZE_DOWNLOAD_T) }

        /// The length of the body that the head declares, or -1.
        var contentLength: Int64 { offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

        /// The last `errno` of the attempts to connect.
        var systemError: Int { number(CURLINFO_OS_ERRNO) }

        /// Why a transfer failed with `CURLE_PROXY`.
        var proxyError: Int { number(CURLINFO_PROXY_ERROR) }

        /// The address of the other side; `nil` before there is one.
        var remoteAddress: String? {
            guard let address = rocurl_string_info(pointer, CURLINFO_PRIMARY_IP), address.pointee != 0 else {
                return nil
            }
            return String(cString: address)
        }

        func number(_ info: CURLINFO) -> Int { rocurl_long_info(pointer, info) }

        func offset(_ info: CURLINFO) -> Int64 { rocurl_offset_info(pointer, info) }
    }
#endif
