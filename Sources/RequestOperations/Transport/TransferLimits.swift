/// What a transport keeps to while it carries out one task.
///
/// Each limit is set or left open. One that was not set is that of the configuration, and where there is none, as when a
/// transport is asked directly, it has the default given here, which it reads as.
///
/// ```swift
/// var task = TransportTask.data(request)
/// task.limits.idle = .seconds(5)      // all others remain those of the configuration
/// task.limits.maximumBodySize = nil   // no bound
/// ```
public struct TransferLimits: Sendable, Hashable {
    /// The longest time for name look-up, connection and TLS handshake together. 15 seconds by default; `nil` is none. A
    /// request that is sent once more over a new connection (``TransferTimings/wasReplayed``) has it anew.
    public var connect: Duration? {
        get { ownConnect ?? .seconds(15) }
        set { ownConnect = .some(newValue) }
    }

    /// The longest time without a byte in either direction once connected. `nil` is none. By default it is the
    /// `timeoutInterval` of the request, or 60 seconds if nobody set that. A `timeoutInterval` that is zero, negative or
    /// endless means none. The time that a consumer takes does not count where it sets the pace. The time of a source that
    /// gives no byte of a body counts. ``CurlTransport`` also counts the bytes of a body that the other side acknowledges,
    /// so that a slow upload is not idle.
    public var idle: Duration? {
        get { ownIdle ?? .seconds(60) }
        set { ownIdle = .some(newValue) }
    }

    /// The largest body of an accepted response, in bytes after decompression; beyond it the transfer ends with
    /// ``RequestError/Code/bodyTooLarge``. `nil` is none. By default ``defaultMaximumBodySize`` for a body that goes to
    /// memory and none for any other: ``TransportTask/effectiveLimits`` tells, and the former is what this reads as.
    public var maximumBodySize: Int? {
        get { ownMaximumBodySize ?? Self.defaultMaximumBodySize }
        set { ownMaximumBodySize = .some(newValue) }
    }

    /// How many bytes of a rejected response are read at most, to keep the connection usable. 64 KiB by default; at 0 the
    /// connection is closed at once. What has arrived before the response is rejected, which with the default is at most
    /// 256 KiB, has been read.
    public var errorBodyLimit: Int {
        get { ownErrorBodyLimit ?? 64 << 10 }
        set { ownErrorBodyLimit = newValue }
    }

    /// How long a rejected response is read at most. 500 ms by default.
    public var errorBodyTimeLimit: Duration {
        get { ownErrorBodyTimeLimit ?? .milliseconds(500) }
        set { ownErrorBodyTimeLimit = newValue }
    }

    /// How many of the bytes that are read of a rejected response ``TransferFailure/bodyPrefix`` has. 4 KiB by default, and
    /// all in a task of an operation, which decodes them.
    public var keptErrorBody: Int {
        get { ownKeptErrorBody ?? Self.keptErrorBody }
        set { ownKeptErrorBody = newValue }
    }

    // Of an optional limit the outer `nil` says that it was not set, the inner that there is none.
    private var ownConnect: Duration??
    private var ownIdle: Duration??
    private var ownMaximumBodySize: Int??
    private var ownErrorBodyLimit: Int?
    private var ownErrorBodyTimeLimit: Duration?
    private var ownKeptErrorBody: Int?

    /// The bound of a body that goes to memory, if none was set: 64 MiB, in bytes.
    public static let defaultMaximumBodySize = 64 << 20

    /// Makes limits of which none is set.
    public init() {}

    /// Makes limits of which those of a configuration are set.
    init(connect: Duration?, idle: Duration?, maximumBodySize: Int?, errorBodyLimit: Int) {
        ownConnect = .some(connect)
        ownIdle = .some(idle)
        ownMaximumBodySize = .some(maximumBodySize)
        ownErrorBodyLimit = errorBodyLimit
    }

    /// These limits, with those that were not set as others have them.
    package func filled(from others: TransferLimits) -> TransferLimits {
        var filled = self
        filled.ownConnect = ownConnect ?? others.ownConnect
        filled.ownIdle = ownIdle ?? others.ownIdle
        filled.ownMaximumBodySize = ownMaximumBodySize ?? others.ownMaximumBodySize
        filled.ownErrorBodyLimit = ownErrorBodyLimit ?? others.ownErrorBodyLimit
        filled.ownErrorBodyTimeLimit = ownErrorBodyTimeLimit ?? others.ownErrorBodyTimeLimit
        filled.ownKeptErrorBody = ownKeptErrorBody ?? others.ownKeptErrorBody
        return filled
    }

    /// Sets the bound of the body that holds for a destination, unless one was set.
    fileprivate mutating func fillMaximumBodySize(for destination: TransportTask.Destination) {
        guard ownMaximumBodySize == nil else { return }
        if case .memory = destination {
            maximumBodySize = Self.defaultMaximumBodySize
        } else {
            maximumBodySize = nil
        }
    }

    /// Sets the idle limit that a request asks for, unless one was set.
    fileprivate mutating func fillIdle(for request: URLRequest) {
        guard ownIdle == nil, let timeout = request.ownTimeout else { return }
        idle = timeout
    }

    /// How much of a rejected response is kept in a ``RequestError``, in bytes.
    package static let keptErrorBody = 4 << 10
}

extension TransportTask {
    /// The ``limits`` as a transport keeps them. An idle limit that was not set is the `timeoutInterval` of the request. A
    /// bound of the body that was not set is ``TransferLimits/defaultMaximumBodySize`` for a body in memory, and none for
    /// any other.
    public var effectiveLimits: TransferLimits {
        var limits = limits
        limits.fillIdle(for: request)
        limits.fillMaximumBodySize(for: destination)
        return limits
    }
}

extension URLRequest {
    /// The limit that the `timeoutInterval` of the request stands for. One that is zero, negative or endless means no
    /// limit. `nil` if nobody has set it. (One that was set to Foundation's default of 60 s cannot be told from that.)
    var ownTimeout: Duration?? {
        let interval = timeoutInterval
        guard interval != 60 else { return nil }
        return .some(interval > 0 && interval < 1e9 ? .seconds(interval) : nil)
    }
}
