#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// One easy handle of libcurl, used for one transfer after another.
    ///
    /// The options from the transport's configuration are set once. After that, a plain GET needs only its URL, or only
    /// its target if the previous request went to the same origin. After any other request, the handle is reset for the
    /// next transfer.
    // Unchecked: only one side uses it at a time. That is the Task before the transfer is submitted and after it has
    // ended, and the driver thread in between.
    final class EasyHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
        /// The transfer that the handle serves.
        var transfer: CurlTransfer? {
            didSet { served = transfer.map(Unmanaged.passUnretained) }
        }
        /// The same transfer, in the form that libcurl's callbacks use.
        private(set) var served: Unmanaged<CurlTransfer>?

        /// Why no request may be sent with this handle: libcurl refused an option, and would go on as if it had not
        /// been set.
        private(set) var refusal: RequestError?

        let bufferSize: BufferSize
        /// Whether it can serve no other transfer, because libcurl keeps some state of the last one that no reset
        /// removes.
        private(set) var isWornOut = false
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
        private var versions: Int?
        private var connectLimit: Duration?
        private var asksForFreshConnection = false
        private var keepsConnection = true
        /// Whether the request asks for the end of its connection.
        private var endsConnection = false
        /// The origin for requests that set only their target; `nil` if the handle has a whole URL.
        private var origin: CurlOrigin?

        init(_ settings: HandleSettings, _ sockets: ConnectionTable, _ bufferSize: BufferSize) {
            self.bufferSize = bufferSize
            self.settings = settings
            self.sockets = sockets
            guard let pointer = curl_easy_init() else {
                // As everywhere in Swift, a lack of memory ends the process.
                preconditionFailure("There is no memory for a transfer.")
            }
            self.pointer = pointer
            errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
            errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            // A new handle accepts any size.
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
                CURLOPT_PREREQFUNCTION)
            note(
                rocurl_set_close(pointer, CurlCallbacks.close, Unmanaged.passUnretained(sockets).toOpaque()),
                CURLOPT_CLOSESOCKETFUNCTION)
            if CurlLibrary.remembersFreedFields { set(CURLOPT_HEADER, 1) }
            versions = nil
            connectLimit = nil
            isSpecial = false
            asksForFreshConnection = false
            keepsConnection = true
            origin = nil
        }

        /// Sets the buffer size. Returns `false` if the handle has kept its old buffer, but reads no more than the
        /// default at a time. Before version 8.7, libcurl may keep the buffer of a transfer that failed or shared its
        /// connection. It then forgets the size in a reset, and accepts no size for a handle that has a buffer.
        private func setBufferSize() -> Bool {
            rocurl_set_long(pointer, CURLOPT_BUFFERSIZE, bufferSize.bytes) == CURLE_OK
        }

        // MARK: Options

        // An option that is refused is noted, and the handle sends nothing.

        func set(_ option: CURLoption, _ value: Int) {
            note(rocurl_set_long(pointer, option, value), option)
        }

        func set(_ option: CURLoption, _ value: String?) {
            // Swift passes a temporary copy of the string.
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

        /// Sets the function that gets the `SSL_CTX` of each new connection.
        func setContextFunction(_ function: @escaping curl_ssl_ctx_callback) {
            note(rocurl_set_context_function(pointer, function), CURLOPT_SSL_CTX_FUNCTION)
        }

        /// Has the chains of a new connection judged by the pins. Returns `false` without memory.
        func judgesChains(of context: UnsafeMutableRawPointer) -> Bool {
            guard let judge = settings.chainJudge else { return true }
            // A handle without a transfer makes no connection.
            guard let transfer else { return false }
            return judge.judge(context, for: transfer)
        }

        private func note(_ code: CURLcode, _ option: CURLoption) {
            guard code != CURLE_OK, refusal == nil else { return }
            // The next request must not inherit anything of a refused option.
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
        ///   - body: The source of a body that is not sent with the head; `nil` if there is none.
        ///   - smallBody: A body that libcurl copies and sends with the head; `nil` if there is none.
        ///   - connectLimit: The limit for connecting. libcurl gives each address of a host a part of it.
        ///   - mustBeAlone: Whether it must not go over HTTP/2.
        ///   - expectsNothing: Whether libcurl adds no expectation.
        func prepare(
            _ request: CurlRequest, body: (any UploadSource)?, smallBody: Data?, connectLimit: Duration?,
            mustBeAlone: Bool = false, expectsNothing: Bool = false
        ) {
            forgetMessage()
            addsExpectation = !expectsNothing && !request.fields.hasExpectation && (body?.length ?? 0) > 1 << 20
            setURL(of: request)
            setVersions(mustBeAlone ? HandleSettings.http11 : settings.versions(isSecure: request.isSecure))
            if asksForFreshConnection {
                set(CURLOPT_FRESH_CONNECT, 0)
                asksForFreshConnection = false
            }
            endsConnection = request.fields.endsConnection
            keepConnection(true)
            if self.connectLimit != connectLimit {
                // The driver enforces the limit itself, a little earlier.
                let milliseconds = (connectLimit?.nanoseconds ?? .max) / 1_000_000
                set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: milliseconds.adding(500))))
                self.connectLimit = connectLimit
            }
            if settings.keepsCookies, !request.handlesCookies { leaveCookies() }
            // libcurl would use that host's cookies for all later requests, regardless of where they go.
            if settings.keepsCookies, request.fields.hasHost, CurlLibrary.keepsCookieHosts { isWornOut = true }
            var lines = request.fields.lines
            decodesBody = request.fields.decodesBody
            if !decodesBody {
                set(CURLOPT_ACCEPT_ENCODING, nil)
                isSpecial = true
            }
            // Only a reset shows whether the handle has kept its large buffer. An idle handle must not keep that much
            // memory.
            if bufferSize == .large { isSpecial = true }
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

        /// Gives libcurl only the target where possible. libcurl parses each whole URL, builds it again and keeps both.
        /// That takes a sixth of all the work that it does for a small response.
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

        /// Makes the handle go to the origin in the text of a request up to an offset, if libcurl understands it.
        private func goesTo(_ request: CurlRequest, upTo offset: Int) -> Bool {
            if let origin, origin.isIn(request.text, upTo: offset) { return true }
            guard let next = CurlOrigin(request.text, upTo: offset) else { return false }
            // libcurl uses this text as the URL of a request that it repeats.
            set(CURLOPT_URL, next.text)
            set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(next.pointer))
            origin = next
            return true
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
            if let body {
                isSpecial = true
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_INFILESIZE_LARGE, size: body.length ?? -1)
                if (body.length ?? 0) >= 1 << 20 { set(CURLOPT_UPLOAD_BUFFERSIZE, 128 << 10) }
                // libcurl would wait for a `100 Continue` before every body sent this way.
                if !request.fields.hasExpectation, !addsExpectation { lines.append("Expect:") }
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
            if !CurlLibrary.sharesConnectionsSoundly, body != nil || smallBody != nil {
                set(CURLOPT_KEEP_SENDING_ON_ERROR, 1)
            }
        }

        /// From now on, everything that libcurl sends again goes over a new connection.
        func askForFreshConnection() {
            guard !asksForFreshConnection else { return }
            asksForFreshConnection = true
            set(CURLOPT_FRESH_CONNECT, 1)
        }

        /// Makes the connection of this transfer speak HTTP/2 without TLS. No connection does that by itself where
        /// ``HandleSettings/makesConnectionsApart(isSecure:)``.
        func askForHTTP2() {
            setVersions(Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }

        private func setVersions(_ versions: Int) {
            guard self.versions != versions else { return }
            self.versions = versions
            set(CURLOPT_HTTP_VERSION, versions)
        }

        /// The transfer waits for a connection. libcurl 8 would count that as time for connecting, so only the driver
        /// enforces the limit then.
        func liftConnectLimit() {
            guard CurlLibrary.countsWaitsAsConnecting, connectLimit != nil else { return }
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            connectLimit = nil
        }

        /// Sets whether the connection is kept at the end of the transfer if nobody else uses it then. (It is never
        /// kept if the transport keeps no connections, or if the request asks for its end.)
        func keepConnection(_ isKept: Bool) {
            let isKept = isKept && !endsConnection
            guard keepsConnection != isKept else { return }
            keepsConnection = isKept
            set(CURLOPT_FORBID_REUSE, isKept && settings.keepsConnections ? 0 : 1)
        }

        /// Delivers the body of the running transfer without decoding it.
        func deliverUndecoded() {
            isSpecial = true
            set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        }

        /// Makes libcurl look at the transfer and its connection in the next turn. libcurl does so after a pause.
        ///
        /// - Parameter directions: How the transfer is paused.
        func run(paused directions: PausedDirections) {
            _ = curl_easy_pause(pointer, directions.union(.receiving).rawValue)
            _ = curl_easy_pause(pointer, directions.rawValue)
        }

        /// The handle must serve no other transfer: it keeps some state of this one that no reset removes.
        func wearOut() {
            isWornOut = true
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
