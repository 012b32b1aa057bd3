// The capabilities of the built-in expectations.
extension TransportCapability {
    // MARK: Heads

    /// The head is reported once, before the body, with status, URL and fields.
    public static let heads = Self("one head, before the body", in: "Heads")
    /// `onHead` and consumers run on the Task that called `perform`, with its task-local values.
    public static let callerTask = Self("user code on the caller's Task", in: "Heads")
    /// User code that blocks does not block other transfers.
    public static let blockingHandlers = Self("user code that blocks harms no other transfer", in: "Heads")
    /// The heads of informational responses (1xx) are not reported.
    public static let informationalHeads = Self("informational heads skipped", in: "Heads")
    /// The head reports the version of HTTP.
    public static let protocolVersion = Self("version of the protocol", in: "Heads")
    /// Several fields of one name stay separate. `Set-Cookie` needs that.
    public static let repeatedFields = Self("fields of one name kept apart", in: "Heads")
    /// Fields whose names differ only in case count as fields of one name.
    public static let respelledFields = Self("names of fields in several spellings", in: "Heads")
    /// Fields keep the order in which they arrived.
    public static let fieldOrder = Self("order of fields", in: "Heads")
    /// Obsolete line folding is read (RFC 9112, section 5.2).
    public static let foldedFields = Self("folded fields", in: "Heads")
    /// Values that are not UTF-8 are read as ISO 8859-1.
    public static let latin1Fields = Self("fields in Latin-1", in: "Heads")
    /// Values in UTF-8 are read as such.
    public static let utf8Fields = Self("fields in UTF-8", in: "Heads")
    /// The space after the colon is optional (RFC 9112, section 5).
    public static let unspacedFields = Self("fields without a space after the colon", in: "Heads")
    /// The reason phrase may be missing (RFC 9112, section 4).
    public static let reasonlessStatus = Self("status lines without a reason phrase", in: "Heads")
    /// A line feed alone ends a line (RFC 9112, section 2.2).
    public static let bareLineFeeds = Self("lines that end with a line feed alone", in: "Heads")
    /// A head of more than 16 KiB and a hundred fields is read whole.
    public static let largeHeads = Self("heads of many KiB", in: "Heads")

    // MARK: Requests

    /// The request line and the fields are sent as they are in the request.
    public static let requestHeads = Self("methods, targets and fields as given", in: "Requests")
    /// An empty query is sent as an empty query.
    public static let emptyQueries = Self("empty queries", in: "Requests")
    /// `.` and `..` in a path are sent unresolved.
    public static let dotSegments = Self("dots in a path as given", in: "Requests")
    /// A field whose value is empty is sent.
    public static let emptyRequestFields = Self("fields with an empty value", in: "Requests")
    /// A field's value in UTF-8 is sent byte for byte.
    public static let utf8RequestFields = Self("request fields in UTF-8", in: "Requests")
    /// A `Host` field of the request is sent in place of the host of the URL.
    public static let ownHost = Self("a Host field of the user's", in: "Requests")
    /// Bad fields, URLs and schemes are refused before anything is sent.
    public static let requestChecks = Self("refusal of requests that cannot be sent", in: "Requests")
    /// A `URLSession` task is carried out, or refused as unsupported.
    public static let sessionTasks = Self("an answer to tasks of URLSession", in: "Requests")

    // MARK: Bodies

    /// A body of declared length arrives in memory, byte for byte.
    public static let memoryBodies = Self("bodies in memory", in: "Bodies")
    /// The chunked coding is read (RFC 9112, section 7.1).
    public static let chunkedBodies = Self("chunked bodies", in: "Bodies")
    /// The trailers of a chunked body do no harm (RFC 9112, section 7.1.2).
    public static let trailers = Self("trailers", in: "Bodies")
    /// A body without a length ends with its connection (RFC 9112, section 6.3).
    public static let closeDelimitedBodies = Self("bodies ended by the connection", in: "Bodies")
    /// Responses to HEAD and responses with 204 or 304 have no body, even if their fields declare one.
    public static let bodilessResponses = Self("responses without a body", in: "Bodies")
    /// The content coding gzip.
    public static let gzip = Self("gzip", in: "Bodies")
    /// The content coding deflate.
    public static let deflate = Self("deflate", in: "Bodies")
    /// The content coding br (RFC 7932).
    public static let brotli = Self("br", in: "Bodies")
    /// The content coding zstd (RFC 8878).
    public static let zstd = Self("zstd", in: "Bodies")
    /// A body in a coding that the transport did not ask for is delivered unchanged.
    public static let unknownCodings = Self("unknown content codings left alone", in: "Bodies")
    /// A body that does not match its declared coding fails.
    public static let brokenCodings = Self("broken compression found", in: "Bodies")
    /// A coded body that breaks off fails, even if its framing is complete.
    public static let truncatedCodings = Self("truncated compression found", in: "Bodies")
    /// `maximumBodySize` is checked while bytes arrive.
    public static let sizeLimits = Self("a limit of the body's size", in: "Bodies")
    /// `maximumBodySize` counts decoded bytes, so that a small compressed bomb is caught.
    public static let decodedSizeLimits = Self("a limit of the decoded size", in: "Bodies")
    /// A body goes to a file. The file is created after the response is accepted.
    public static let fileBodies = Self("bodies in files", in: "Bodies")
    /// The file of a body is removed when the transfer fails or is cancelled.
    public static let fileRemoval = Self("removal of files that were not finished", in: "Bodies")
    /// Files are sent and received without passing through memory as a whole.
    public static let boundedMemory = Self("files of any size within bounded memory", in: "Bodies")
    /// A body goes to a consumer piece by piece, in order.
    public static let streamedBodies = Self("bodies to a consumer", in: "Bodies")
    /// A consumer gets a piece as it arrives.
    public static let promptPieces = Self("pieces as they arrive", in: "Bodies")
    /// The server has to wait while a consumer works.
    public static let backPressure = Self("back-pressure by a consumer", in: "Bodies")

    // MARK: Uploads

    /// A body is sent from memory, with exactly one framing.
    public static let uploads = Self("bodies from memory", in: "Uploads")
    /// A body is sent from a file, with its length.
    public static let fileUploads = Self("bodies from files", in: "Uploads")
    /// A stream of known length is sent with that length. A stream with more or fewer bytes fails.
    public static let sizedStreamUploads = Self("streams of known length", in: "Uploads")
    /// A stream of unknown length is sent in chunks.
    public static let chunkedUploads = Self("streams of unknown length", in: "Uploads")
    /// An `InputStream` is sent in chunks.
    public static let inputStreamUploads = Self("input streams", in: "Uploads")
    /// A GET can have a body.
    public static let bodyOfGET = Self("GET with a body", in: "Uploads")
    /// The transport adds no `Content-Type` of its own.
    public static let givenContentType = Self("no Content-Type but the user's", in: "Uploads")
    /// With `Expect: 100-continue` the body waits for the server's answer (RFC 9110, section 10.1.1).
    public static let expectContinue = Self("100 Continue", in: "Uploads")
    /// An error of a source is reported. The server never takes the body for complete.
    public static let sourceErrors = Self("errors of a source", in: "Uploads")
    /// A response that arrives while the body is being sent is delivered.
    public static let earlyAnswers = Self("answers before the end of the body", in: "Uploads")
    /// A source is read only as fast as the server takes its bytes.
    public static let uploadBackPressure = Self("back-pressure by the server", in: "Uploads")

    // MARK: Rejected responses

    /// A rejected response delivers nothing and is given up beyond the limit. Neither the error nor the head is lost.
    public static let rejectedHeads = Self("rejection by onHead", in: "Rejected responses")
    /// The kept first bytes of a rejected body are decompressed.
    public static let decodedErrorBodies = Self("decoded error bodies", in: "Rejected responses")

    /// A slow or broken error body is read within its time limit, and does not hide the error.
    public static let slowRejections = Self("slow and broken error bodies", in: "Rejected responses")
    /// At an `errorBodyLimit` of 0 the connection is closed at once, no matter how much has arrived.
    public static let unreadRejections = Self("error bodies not read at all", in: "Rejected responses")

    // MARK: Time

    /// The connect limit and the idle limit are kept to fractions of a second.
    public static let timeLimits = Self("limits of idle time", in: "Time")
    /// A server that stops reading trips the idle limit.
    public static let uploadTimeLimits = Self("limits of idle time in uploads", in: "Time")
    /// The time that a consumer takes does not trip the idle limit.
    public static let pausesAreNotIdle = Self("a consumer's time is not idle time", in: "Time")
    /// A connection that is never made trips the connect limit.
    public static let connectLimit = Self("a limit of connecting", in: "Time")
    /// A cancel before or during a response ends the transfer and its connection at once.
    public static let cancellation = Self("cancellation of a response", in: "Time")

    /// A cancel ends a transfer that connects, sends, or reads at full speed.
    public static let cancellationInTransit = Self("cancellation at every other point", in: "Time")
    /// A cancel ends a transfer while the source of its body waits.
    public static let sourceCancellation = Self("cancellation while a source waits", in: "Time")
    /// A transfer that ends early closes its connection at once, even while bytes flow.
    public static let closingInFlow = Self("connections closed while bytes flow", in: "Time")

    // MARK: Connections

    /// A connection serves the next request after a message has ended.
    public static let keptConnections = Self("connections used again", in: "Connections")
    /// Transfers to one host run side by side, on as many connections as they need.
    public static let parallelTransfers = Self("many transfers at the same time", in: "Connections")
    /// A kept connection that the server has closed is not used.
    public static let deadConnections = Self("kept connections that the server closed", in: "Connections")
    /// A safe request that was lost on a reused connection is sent once more.
    public static let replays = Self("one free replay of a safe request", in: "Connections")
    /// The timings report that a request was sent once more.
    public static let replayReports = Self("a report of that replay", in: "Connections")
    /// A request that is not idempotent is never sent twice.
    public static let unsafeReplays = Self("no replay of an unsafe request", in: "Connections")
    /// A request that was lost on a new connection is not sent again.
    public static let freshReplays = Self("no replay on a fresh connection", in: "Connections")
    /// Bytes after the end of a response do not become part of the next response.
    public static let excessBytes = Self("bytes beyond a response", in: "Connections")
    /// IPv6 addresses in URLs are supported.
    public static let ipv6 = Self("IPv6 addresses", in: "Connections")

    // MARK: Errors

    /// Refused connections and unknown names have different codes, and count as not sent.
    public static let connectErrors = Self("errors of connecting", in: "Errors")
    /// A connection that ends before or during the response is reported.
    public static let lostConnections = Self("lost connections", in: "Errors")
    /// A body that ends before its declared or framed end is reported.
    public static let truncatedBodies = Self("truncated bodies", in: "Errors")
    /// An answer that is not HTTP is reported.
    public static let malformedHeads = Self("malformed heads", in: "Errors")
    /// A head that breaks off does not count as a head.
    public static let brokenOffHeads = Self("heads that break off", in: "Errors")
    /// A head that never ends is refused.
    public static let endlessHeads = Self("endless heads", in: "Errors")

    // MARK: Neutrality

    /// Redirects are delivered as responses. The layers above the transports follow them.
    public static let redirects = Self("redirects left alone", in: "Neutrality")
    /// A redirect without a `Location` is delivered as a response.
    public static let redirectsToNowhere = Self("redirects without a Location", in: "Neutrality")
    /// 401 and 407 are delivered as responses.
    public static let challenges = Self("challenges left alone", in: "Neutrality")
    /// Cookies, credentials and responses are not kept.
    public static let memorylessness = Self("no memory of other requests", in: "Neutrality")

    // MARK: Progress and timings

    /// Progress grows, is reported rarely and on the caller's Task, and ends with the full count.
    public static let progress = Self("progress of bodies that arrive", in: "Progress and timings")
    /// Progress counts decoded bytes. It does not report the compressed length as the decoded length.
    public static let decodedProgress = Self("progress of compressed bodies", in: "Progress and timings")
    /// Progress of an upload grows and ends with the full count.
    public static let uploadProgress = Self("progress of bodies that are sent", in: "Progress and timings")
    /// The timings have the times of the first and the last byte.
    public static let timings = Self("timings of a transfer: `firstByte`, `receive`", in: "Progress and timings")
    /// The timings have the connect time, the address, and whether the connection was reused.
    public static let connectionTimings = Self(
        "timings of connecting: `lookup`, `connect`, `secure`, `send`", in: "Progress and timings")
    /// The timings have the numbers of body bytes sent and received, before decompression.
    public static let wireCounts = Self("counts of bytes on the wire", in: "Progress and timings")
}
