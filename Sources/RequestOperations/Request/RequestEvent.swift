/// One step of a request. It stands alone: it says which request, which attempt and when.
///
/// ``RequestConfiguration/onEvent`` gets those of all requests, ``RetryingOperation/events`` those of one operation, and
/// ``RequestClient/events`` those of a client. <doc:Timelines> draws the order of the steps:
///
/// `began` { `attemptBegan`, (`waitsForConnectivity`, `woke`)…, (`waits`, `woke`)…, (`waitsForSlot`, `gotSlot`)…,
/// `redirected`…, `head`, `attemptFailed`, `decided`, (`waits`, `woke`)… } `ended`
///
/// Steps in braces repeat for each attempt, and steps that do not happen are left out.
///
/// - The first attempt waits for a network if the configuration says so.
/// - An attempt waits if its host has asked another request to wait, unless the decision already included that wait
///   (``HostRegistry``).
/// - With a limiter, an attempt waits for its slot once. It waits again if the first wait exceeded
///   ``RequestConfiguration/freshness``.
/// - A retry waits a second time if its ``RetryBudget`` has no room when its wait is over.
/// - With ``RequestConfiguration/hedging`` an attempt may have `hedgeBegan` or `notHedged` before its `head`. After
///   `hedgeBegan`, the steps of both attempts come as they happen (`redirected`, `head`). `attemptFailed` comes for
///   each attempt that fails while the other may still answer, and for one that decides the outcome. `hedgeDecided`
///   says which attempt the request goes on with.
/// - `abandoned` comes once for each stage that is left behind.
/// - Nothing comes after `ended`, which may be reported a moment after the result is there.
public struct RequestEvent: Sendable {
    /// The request.
    public let id: RequestID

    /// The number of the attempt that the step belongs to. Otherwise that of the last one that began, and `nil` before the
    /// first.
    public let attempt: Int?

    /// The method of the request, or the name of other work.
    public let method: String

    /// The URL of the request before redirects, with the default ``Redaction``. Empty for work without one.
    public var url: String { original.map { Redaction.default.text(of: $0) } ?? "" }

    /// When the step happened, by the clock of the system.
    public let date: Date

    /// When the step happened, counted from when the operation became ready.
    public let elapsed: Duration

    /// The step.
    public let step: Step

    /// Why the operation waits. `nil` for all steps except `waits`.
    public let waitReason: WaitReason?

    /// How many events before this one were dropped, because ``RequestConfiguration/onEvent`` was too slow. Otherwise 0.
    public internal(set) var missed = 0

    let original: URL?

    /// The steps of a request.
    public enum Step: Sendable {
        /// The operation was started.
        case began
        /// An attempt began. The value is its number.
        case attemptBegan(Int)
        /// A hedge with this number was sent beside the running attempt. It has no `attemptBegan`.
        case hedgeBegan(Int)
        /// It is time for a hedge, but the running attempt gets none, for the reason that the text says.
        case notHedged(String)
        /// The attempt with this number decides the outcome, even with a failure. The other parallel attempts are
        /// cancelled.
        case hedgeDecided(Int)
        /// The attempt waits for its slot.
        case waitsForSlot
        /// The attempt got its slot after this time.
        case gotSlot(waited: Duration)
        /// A redirect is followed.
        case redirected(from: URL, to: URL)
        /// The head of the last response arrived and is about to be judged.
        case head(ResponseHead)
        /// An attempt failed.
        case attemptFailed(AttemptFailure)
        /// There is a decision about what follows a failed attempt.
        case decided(RetryDecision)
        /// The first attempt waits until the machine is connected to a network
        /// (``RequestConfiguration/waitsForConnectivity``).
        case waitsForConnectivity
        /// The operation waits before its next attempt, for at most this time. ``RequestEvent/waitReason`` says why.
        case waits(Duration)
        /// The wait is over.
        case woke(WakeReason)
        /// The server has refused the tus upload of an earlier operation for good, with this status. The next attempt
        /// creates the upload again. Comes before `decided`.
        case uploadRefused(status: Int)
        /// User code that did not return in time was left behind. If it still returns, its result is dropped.
        case abandoned(RequestError.Stage)
        /// The operation ended. `nil` means success.
        case ended((any Error)?)
    }
}

extension RequestEvent: CustomStringConvertible, OpaqueReflectable {
    /// One line: the id of the request, the step, and for a wait the reason.
    public var description: String { "request \(id): \(step)" + (waitReason.map { " (\($0))" } ?? "") }
}

extension RequestEvent.Step: CustomStringConvertible, OpaqueReflectable {
    /// One line. It shows scheme, host, port and path of a URL, and the status of a head. For an error that is not of
    /// this package, it shows only the type.
    public var description: String {
        switch self {
        case .began: "began"
        case .attemptBegan(let attempt): "attempt \(attempt) began"
        case .hedgeBegan(let attempt): "attempt \(attempt) began as a hedge"
        case .notHedged(let refusal): "not hedged: \(refusal)"
        case .hedgeDecided(let attempt): "goes on with attempt \(attempt)"
        case .waitsForSlot: "waits for a slot"
        case .gotSlot(let waited): "got a slot after \(waited)"
        case .redirected(let source, let target):
            "redirected from \(Redaction.location(of: source)) to \(Redaction.location(of: target))"
        case .head(let head): "head: \(head)"
        case .attemptFailed(let failure): "failed: \(failure)"
        case .decided(let decision): "decided: \(decision)"
        case .waitsForConnectivity: "waits for a network"
        case .waits(let delay): "waits \(delay)"
        case .woke(let reason): "woke: \(reason)"
        case .uploadRefused(let status): "the stored upload was refused (status \(status)) and is created anew"
        case .abandoned(let stage): "left \(stage.rawValue) behind"
        case .ended(let error?): "ended: \(error.redacted)"
        case .ended(nil): "ended: success"
        }
    }
}

extension RequestEvent.Step {
    /// The name of the step, without its values, such as `attemptBegan`.
    public var name: String {
        switch self {
        case .began: "began"
        case .attemptBegan: "attemptBegan"
        case .hedgeBegan: "hedgeBegan"
        case .notHedged: "notHedged"
        case .hedgeDecided: "hedgeDecided"
        case .waitsForSlot: "waitsForSlot"
        case .gotSlot: "gotSlot"
        case .redirected: "redirected"
        case .head: "head"
        case .attemptFailed: "attemptFailed"
        case .decided: "decided"
        case .waitsForConnectivity: "waitsForConnectivity"
        case .waits: "waits"
        case .woke: "woke"
        case .uploadRefused: "uploadRefused"
        case .abandoned: "abandoned"
        case .ended: "ended"
        }
    }

    /// The number of the attempt that the step names.
    var attempt: Int? {
        switch self {
        case .attemptBegan(let number), .hedgeBegan(let number), .hedgeDecided(let number): number
        case .attemptFailed(let failure): failure.attempt
        default: nil
        }
    }
}
