/// The limits that a transport keeps while it carries out one task.
///
/// You set a limit or leave it open. A limit that you leave open comes from the configuration. If there is no
/// configuration, as when you call a transport directly, it has the default given here. An open limit also reads as
/// that default.
///
/// ```swift
/// var task = TransportTask.data(request)
/// task.limits.idle = .seconds(5)      // all others remain those of the configuration
/// task.limits.maximumBodySize = nil   // no bound
/// ```
public struct TransferLimits: Sendable, Hashable {
    /// The longest time for name look-up, connection and TLS handshake together. 15 seconds by default; `nil` means no
    /// limit.
    ///
    /// If a request is sent again over a new connection (``TransferTimings/wasReplayed``), the limit starts again.
    public var connect: Duration? {
        get { ownConnect ?? .seconds(15) }
        set { ownConnect = .some(newValue) }
    }

    /// The longest time without a byte in either direction, once connected. `nil` means no limit.
    ///
    /// The default is the `timeoutInterval` of the request, or 60 seconds if that was not set. A `timeoutInterval` that
    /// is zero, negative or infinite means no limit. The time that a consumer takes does not count where the consumer
    /// sets the pace. The time in which the source of a body gives no byte counts. ``CurlTransport`` also counts the
    /// body bytes that the other side acknowledges, so a slow upload is not idle. If the process was stopped
    /// for more than a second, the limit ends that much later, and up to five seconds more.
    public var idle: Duration? {
        get { ownIdle ?? .seconds(60) }
        set { ownIdle = .some(newValue) }
    }

    /// The largest body of an accepted response, in bytes after decompression. `nil` means no limit.
    ///
    /// A larger body ends the transfer with ``RequestError/Code/bodyTooLarge``. The default is
    /// ``defaultMaximumBodySize`` for a body that goes to memory, and no limit for any other.
    /// ``TransportTask/effectiveLimits`` tells which of them holds. This property reads as ``defaultMaximumBodySize``
    /// if it was not set.
    public var maximumBodySize: Int? {
        get { ownMaximumBodySize ?? Self.defaultMaximumBodySize }
        set { ownMaximumBodySize = .some(newValue) }
    }

    /// How many bytes of a decoded body may come from one byte that was received. 256 by default; `nil` means no limit.
    ///
    /// A body beyond it ends the transfer with ``RequestError/Code/bodyTooLarge``. 256 KiB are added to what was received, so
    /// the default judges no body below 64 MiB. Text expands 30 times at most, as a rule, and zeros in gzip 1,032 times.
    /// ``CurlTransport`` keeps this limit. ``URLSessionTransport`` cannot, since URLSession does not count what it receives.
    public var maximumDecompressionRatio: Int? {
        get { ownMaximumDecompressionRatio ?? 256 }
        set { ownMaximumDecompressionRatio = .some(newValue) }
    }

    /// How many bytes of a rejected response are read at most, to keep the connection usable. 64 KiB by default.
    ///
    /// At 0 the connection is closed at once. Bytes that arrive before the response is rejected are read in any case.
    /// With the default that is at most 256 KiB.
    public var errorBodyLimit: Int {
        get { ownErrorBodyLimit ?? 64 << 10 }
        set { ownErrorBodyLimit = newValue }
    }

    /// How long a rejected response is read at most, to keep the connection usable. 500 ms by default.
    public var errorBodyTimeLimit: Duration {
        get { ownErrorBodyTimeLimit ?? .milliseconds(500) }
        set { ownErrorBodyTimeLimit = newValue }
    }

    /// How many bytes of a rejected response ``TransferFailure/bodyPrefix`` keeps at most. 4 KiB by default.
    ///
    /// A task of an operation keeps all bytes that are read, since the operation decodes them.
    public var keptErrorBody: Int {
        get { ownKeptErrorBody ?? Self.keptErrorBody }
        set { ownKeptErrorBody = newValue }
    }

    // In an optional limit, the outer `nil` means that it was not set. The inner `nil` means that there is no limit.
    private var ownConnect: Duration??
    fileprivate var ownIdle: Duration??
    fileprivate var ownMaximumBodySize: Int??
    private var ownMaximumDecompressionRatio: Int??
    private var ownErrorBodyLimit: Int?
    private var ownErrorBodyTimeLimit: Duration?
    private var ownKeptErrorBody: Int?

    /// The limit of a body that goes to memory, if none was set: 64 MiB, in bytes.
    public static let defaultMaximumBodySize = 64 << 20

    /// Makes limits with none of them set.
    public init() {}

    /// Makes limits with the values of a configuration.
    init(
        connect: Duration?, idle: Duration?, maximumBodySize: Int?, maximumDecompressionRatio: Int? = 256,
        errorBodyLimit: Int
    ) {
        ownConnect = .some(connect)
        ownIdle = .some(idle)
        ownMaximumBodySize = .some(maximumBodySize)
        ownMaximumDecompressionRatio = .some(maximumDecompressionRatio)
        ownErrorBodyLimit = errorBodyLimit
    }

    /// Returns these limits. Those that were not set come from `others`.
    package func filled(from others: TransferLimits) -> TransferLimits {
        var filled = self
        filled.ownConnect = ownConnect ?? others.ownConnect
        filled.ownIdle = ownIdle ?? others.ownIdle
        filled.ownMaximumBodySize = ownMaximumBodySize ?? others.ownMaximumBodySize
        filled.ownMaximumDecompressionRatio = ownMaximumDecompressionRatio ?? others.ownMaximumDecompressionRatio
        filled.ownErrorBodyLimit = ownErrorBodyLimit ?? others.ownErrorBodyLimit
        filled.ownErrorBodyTimeLimit = ownErrorBodyTimeLimit ?? others.ownErrorBodyTimeLimit
        filled.ownKeptErrorBody = ownKeptErrorBody ?? others.ownKeptErrorBody
        return filled
    }

    /// How many bytes of a rejected response a ``RequestError`` keeps.
    package static let keptErrorBody = 4 << 10
}

extension TransportTask {
    /// The ``limits`` that a transport keeps, with open ones filled in.
    ///
    /// An idle limit that was not set is the `timeoutInterval` of the request. A body limit that was not set is
    /// ``TransferLimits/defaultMaximumBodySize`` for a body in memory. There is no body limit for any other
    /// destination.
    public var effectiveLimits: TransferLimits {
        var limits = limits
        if limits.ownIdle == nil, let timeout = request.ownTimeout { limits.idle = timeout }
        if limits.ownMaximumBodySize == nil, !destination.isMemory { limits.maximumBodySize = nil }
        return limits
    }
}

extension URLRequest {
    /// The idle limit that the request's `timeoutInterval` stands for, or `nil` if it was not set.
    ///
    /// A value that is zero, negative, or at least 1e9 seconds means no limit. A value of 60 s counts as not set, since
    /// it is Foundation's default.
    var ownTimeout: Duration?? {
        let interval = timeoutInterval
        guard interval != 60 else { return nil }
        return .some(interval > 0 && interval < 1e9 ? .seconds(interval) : nil)
    }
}
