/// The record of one attempt of a request.
public struct Attempt: Sendable {
    /// The number of the attempt, from 1.
    public let number: Int

    /// When the attempt began, since the operation did.
    public let began: Duration

    /// When the attempt ended, since the operation began; `nil` while it runs.
    public internal(set) var ended: Duration?

    /// Why it failed; `nil` if it succeeded or still runs. `CancellationError` for one that was cancelled.
    public internal(set) var error: (any Error)?

    /// How long the operation waited before this attempt; zero for the first.
    public let waited: Duration

    /// What ended that wait; `nil` for the first attempt.
    public let wokenBy: WakeReason?

    /// The status of the response, if one arrived.
    public internal(set) var status: Int?

    /// The URLs that the attempt was redirected to, in order.
    public internal(set) var redirects: [URL] = []

    /// The timings of the last transfer of the attempt, where the transport measures them.
    public internal(set) var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    private var boxedTimings: Box<TransferTimings>?

    init(number: Int, began: Duration, waited: Duration, wokenBy: WakeReason?) {
        self.number = number
        self.began = began
        self.waited = waited
        self.wokenBy = wokenBy
    }
}

/// What ended a wait between two attempts.
public enum WakeReason: Sendable, Hashable {
    /// The backoff (or the server's `Retry-After`) was over.
    case backoff
    /// An early-retry observer returned first; with the name of its type.
    case observer(String)
    /// ``URLRequestOperation/retryNow()`` was called.
    case retryNow
}

/// The identity of a request: one for its whole life, the same over all retries and redirects.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// A number that no other request of the process has.
    public let rawValue: UInt64

    private static let last = Locked<UInt64>(0)

    init() {
        rawValue = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    /// The number in decimal.
    public var description: String { String(rawValue) }
}
