/// Where an upload by tus stands. A pure value: it says what to send next, and takes in the heads of responses.
struct TusState: Sendable {
    /// The next request.
    enum Step: Sendable, Hashable {
        /// Ask what the server can do.
        case discover
        /// Create the upload. The first bytes go with it, unless the part is empty.
        case create(Range<Int64>)
        /// Ask for the number of bytes that the server has.
        case ask(URL)
        /// Send bytes, with their digest if they are verified.
        case send(Range<Int64>, to: URL, isVerified: Bool)
    }

    /// What a response means for the upload.
    enum Verdict: Sendable, Hashable {
        /// Another step follows in the same attempt.
        case goesOn
        /// The server has all bytes.
        case complete
        /// The response ends the attempt.
        case refused
    }

    private enum Upload: Sendable {
        /// There is none on the server.
        case none
        /// How many bytes the server has is unknown.
        case unknown(TusLocation)
        case known(TusLocation, offset: Int64)
    }

    /// The number of bytes.
    let size: Int64
    private let options: TusOptions
    private var server: TusServer?
    private var upload = Upload.none
    private var attempt = 0
    /// How many uploads this attempt has created.
    private var creations = 0
    /// How many responses in a row made no progress.
    private var setbacks = 0
    /// The most bytes that the server has had.
    private var furthest: Int64 = 0
    /// The same when the attempt began.
    private var furthestBefore: Int64 = 0
    /// Whether the upload is one of an earlier operation.
    private var isRemembered = false
    /// Whether the last response was the refusal of a request to the upload.
    private var isRefused = false
    /// Whether no bytes go with the creation any more, because one failed or has no response yet.
    private var createsEmpty = false

    /// The most bytes of one request if they are verified, and the most that go with the creation.
    static let usualPiece: Int64 = 8 << 20
    private static let mostCreations = 2
    private static let mostSetbacks = 3

    /// - Parameter location: The upload that an earlier operation created, if there is one.
    init(size: Int64, options: TusOptions, resuming location: TusLocation? = nil) {
        self.size = size
        self.options = options
        if let location {
            upload = .unknown(location)
            isRemembered = true
        }
    }

    /// Where the upload is on the server; `nil` if there is none.
    var location: TusLocation? {
        switch upload {
        case .none: nil
        case .unknown(let location), .known(let location, _): location
        }
    }

    /// How many bytes the server has; `nil` if it is unknown.
    var offset: Int64? {
        if case .known(_, let offset) = upload { offset } else { nil }
    }

    /// Begins an attempt. What the previous attempt knew about the offset is out of date. Returns its number.
    mutating func beginAttempt() -> Int {
        attempt += 1
        creations = 0
        setbacks = 0
        furthestBefore = furthest
        isRefused = false
        if let location { upload = .unknown(location) }
        return attempt
    }

    /// Whether the attempt has found more bytes on the server than there ever were. The attempt before it may have sent them.
    var hasGrown: Bool { furthest > furthestBefore }

    /// Drops the upload of an earlier operation after a refusal, so that the next attempt creates another one.
    ///
    /// - Returns: Whether there was such a refusal. At most one call returns `true`.
    mutating func dropRemembered() -> Bool {
        guard isRemembered, isRefused else { return false }
        isRemembered = false
        upload = .none
        furthest = 0
        return true
    }

    /// Whether an attempt is the one that runs. An abandoned attempt must not send anything.
    func isRunning(_ attempt: Int) -> Bool { attempt == self.attempt }

    // MARK: Steps

    /// What to send next. It is sent now.
    mutating func nextStep() -> Step {
        let step = step
        // If the creation breaks off, bytes that go with the next one would have to go again.
        if case .create(let part) = step, !part.isEmpty { createsEmpty = true }
        return step
    }

    /// What to send next.
    var step: Step {
        guard let server else { return .discover }
        switch upload {
        case .none: return .create(0..<initialCount(server))
        case .unknown(let location): return .ask(location.url)
        case .known(let location, let offset):
            let end = min(size - offset, pieceSize(server) ?? .max) + offset
            return .send(offset..<end, to: location.url, isVerified: isVerified(server))
        }
    }

    private func isVerified(_ server: TusServer) -> Bool { options.isVerified && server.verifies }

    private func pieceSize(_ server: TusServer) -> Int64? {
        options.chunkSize ?? (isVerified(server) ? Self.usualPiece : nil)
    }

    /// How many bytes go with the creation.
    ///
    /// If it breaks off, they have to be sent again. So there are not many, and none after that. They have no digest.
    private func initialCount(_ server: TusServer) -> Int64 {
        guard server.createsWithUpload, !isVerified(server), !createsEmpty else { return 0 }
        let count = min(size, options.chunkSize ?? size)
        return count <= Self.usualPiece ? count : 0
    }

    // MARK: Responses

    /// Takes in the head of the response to a step.
    ///
    /// - Throws: A `RequestError`, if the server certainly cannot take the upload or does not keep to the protocol.
    mutating func receive(_ head: ResponseHead, to step: Step, now: Date = Date()) throws -> Verdict {
        switch step {
        case .discover: return try discovered(head)
        case .create(let part): return try created(head, with: part, now)
        case .ask, .send:
            // A response against the protocol counts as a refusal. The limit of the server is not about this upload.
            isRefused = head.status != 413
            let verdict =
                if [301, 302, 307, 308].contains(head.status) {
                    try moved(head)
                } else if case .send(let part, _, _) = step {
                    try sent(part, head, now)
                } else {
                    try answered(head, now)
                }
            isRefused = verdict == .refused
            return verdict
        }
    }

    private mutating func discovered(_ head: ResponseHead) throws -> Verdict {
        switch head.status {
        case 200..<300:
            server = try TusServer(head, size: size)
        case 412:
            throw TusServer.speaksNoVersion(head)
        case 300..<400, 408, 425, 429, 500, 502, 503, 504:
            return .refused
        default:
            // Many servers, or those in front of them, answer no OPTIONS request.
            server = TusServer()
        }
        return .goesOn
    }

    private mutating func created(_ head: ResponseHead, with part: Range<Int64>, _ now: Date) throws -> Verdict {
        // A redirect, or the refusal of an expectation, is not about the bytes.
        if !part.isEmpty { createsEmpty = head.status >= 400 && head.status != 417 }
        switch head.status {
        case 200..<300: break
        case 412: throw TusServer.speaksNoVersion(head)
        case 413: throw TusServer.takesNoMore(size, head)
        default: return .refused
        }
        guard let url = head.location else {
            throw Self.malformed(head, "the response to the creation has no Location")
        }
        creations += 1
        let location = TusLocation(url: url, expires: head.expiry(now))
        let offset = part.isEmpty ? 0 : head.number(in: "Upload-Offset")
        guard let offset else {
            upload = .unknown(location)
            return .goesOn
        }
        guard part.isEmpty || (0...part.upperBound).contains(offset) else {
            throw Self.malformed(head, "the server claims to have bytes that were not sent")
        }
        upload = .known(location, offset: offset)
        furthest = max(furthest, offset)
        return offset == size ? .complete : .goesOn
    }

    private mutating func answered(_ head: ResponseHead, _ now: Date) throws -> Verdict {
        guard var location else { return .refused }
        guard (200..<300).contains(head.status) else { return forget(after: head, now) }
        guard let offset = head.number(in: "Upload-Offset") else {
            throw Self.malformed(head, "the response has no Upload-Offset")
        }
        // Something else is there now, under the same URL.
        guard head.number(in: "Upload-Length") ?? size == size, offset <= size else { return createAnew() }
        location.expires = head.expiry(now) ?? location.expires
        upload = .known(location, offset: offset)
        // A server that loses bytes again and again would keep the attempt busy for ever.
        if offset < furthest { setbacks += 1 } else { furthest = offset }
        guard setbacks <= Self.mostSetbacks else { return .refused }
        return offset == size ? .complete : .goesOn
    }

    private mutating func sent(_ part: Range<Int64>, _ head: ResponseHead, _ now: Date) throws -> Verdict {
        guard var location else { return .refused }
        switch head.status {
        case 200..<300: break
        case 409, 460: return askAgain()
        case 413: throw TusServer.takesNoMore(size, head)
        default: return forget(after: head, now)
        }
        location.expires = head.expiry(now) ?? location.expires
        upload = .unknown(location)
        guard let offset = head.number(in: "Upload-Offset") else { return askAgain() }
        guard (part.lowerBound...part.upperBound).contains(offset) else {
            throw Self.malformed(head, "the server reports an offset outside of the bytes that were sent")
        }
        guard offset > part.lowerBound || part.isEmpty else { return askAgain() }
        if offset > furthest {
            furthest = offset
            setbacks = 0
        }
        upload = .known(location, offset: offset)
        return offset == size ? .complete : .goesOn
    }

    /// Takes in a redirect of a request to the upload. The upload is there from now on.
    ///
    /// The operation follows redirects of the creation. It would mistake the URL of the upload for that of the creation. Another
    /// host could send it back to the first host, with the credentials for that host. So only a redirect within the origin is
    /// followed.
    private mutating func moved(_ head: ResponseHead) throws -> Verdict {
        setbacks += 1
        guard setbacks <= Self.mostSetbacks, let location, let url = head.location, Origin(url) == Origin(location.url)
        else {
            throw RequestError(
                .unacceptableStatus, stage: .transfer, head: head,
                reason: "the server redirected a request to the upload to another host, or again and again")
        }
        upload = .unknown(TusLocation(url: url, expires: location.expires))
        return .goesOn
    }

    /// The server and the client do not agree, so the next step asks for the offset. It does so only a few times in a row.
    private mutating func askAgain() -> Verdict {
        setbacks += 1
        guard setbacks <= Self.mostSetbacks, let location else { return .refused }
        upload = .unknown(location)
        return .goesOn
    }

    /// Takes in a refusal of a request to the upload.
    private mutating func forget(after head: ResponseHead, _ now: Date) -> Verdict {
        switch head.status {
        case 404, 410: return createAnew()
        // Servers refuse an expired upload with it, and a request without the right credentials too.
        case 403 where location?.expires.map({ $0 <= now }) ?? false: return createAnew()
        default: return .refused
        }
    }

    private mutating func createAnew() -> Verdict {
        guard creations < Self.mostCreations else { return .refused }
        isRemembered = false
        upload = .none
        return .goesOn
    }

    private static func malformed(_ head: ResponseHead, _ reason: String) -> RequestError {
        RequestError(.malformedResponse, stage: .transfer, head: head, reason: reason)
    }
}

extension ResponseHead {
    /// The place that the response names, without a user and a password, which must not get into a side file.
    fileprivate var location: URL? {
        guard let text = field("Location")?.trimmingCharacters(in: .whitespaces),
            let place = URL(reference: text, relativeTo: url)
        else { return nil }
        var components = URLComponents(url: place.absoluteURL, resolvingAgainstBaseURL: true)
        components?.percentEncodedUser = nil
        components?.percentEncodedPassword = nil
        return components?.url
    }

    /// When the server removes the unfinished upload (`Upload-Expires`).
    fileprivate func expiry(_ now: Date) -> Date? {
        field("Upload-Expires").flatMap { HTTPDate.parse($0, now: now) }
    }
}

/// Where an upload is on its server.
struct TusLocation: Sendable, Hashable, Codable {
    /// The URL of the upload.
    let url: URL
    /// When the server removes it, if it is not complete by then. `nil` if the server does not say.
    var expires: Date?
}
