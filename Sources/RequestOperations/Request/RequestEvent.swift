/// One step of a request, as ``RequestConfiguration/onEvent`` gets it.
///
/// The steps of one request come in this order. Steps in braces repeat for each attempt, and steps that do not happen
/// are left out.
///
/// `began` { `attemptBegan`, (`waitsForConnectivity`, `woke`)…, (`waits`, `woke`)…, (`waitsForSlot`, `gotSlot`)…,
/// (`redirected`, (`waitsForSlot`, `gotSlot`))…, `head`, `attemptFailed`, `decided`, (`waits`, `woke`)… } `ended`
///
/// - The first attempt waits for a network if the configuration says so.
/// - An attempt waits if its host has told another request to wait, and the decision did not know of that
///   (``HostRegistry``).
/// - With a limiter, an attempt waits for its slot once. It waits again if the first wait exceeded
///   ``RequestConfiguration/freshness``. A redirect to another host waits for a slot there.
/// - A retry waits a second time if its ``RetryBudget`` has no room when its wait is over.
/// - With ``RequestConfiguration/hedging`` an attempt may have `hedgeBegan` or `notHedged` before its `head`. After
///   `hedgeBegan`, the steps of the parallel attempts come as they happen (`redirected`, `waitsForSlot`, `gotSlot`,
///   `head`). `attemptFailed` comes for each attempt that fails while another may still answer, and for one that
///   decides the outcome. `hedgeDecided` says which attempt the request goes on with.
/// - `abandoned` comes once for each stage that is left behind.
/// - Nothing comes after `ended`, which may be reported a moment after the result is there.
public struct RequestEvent: Sendable {
    /// The request.
    public let id: RequestID
    /// The step.
    public let step: Step
    /// Why the operation waits. `nil` for all steps except `waits`.
    public internal(set) var waitReason: WaitReason?

    /// The steps of a request.
    public enum Step: Sendable {
        /// The operation was started.
        case began
        /// An attempt began. The value is its number.
        case attemptBegan(Int)
        /// A hedge with this number was sent beside the running attempt. It has no `attemptBegan`.
        case hedgeBegan(Int)
        /// It is time for a hedge, but the running attempt gets none.
        case notHedged(Hedging.Refusal)
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
        /// creates the upload anew. Comes before `decided`.
        case uploadRefused(status: Int)
        /// User code that did not return in time was left behind. If it still returns, its result is dropped.
        case abandoned(RequestError.Stage)
        /// The operation ended. `nil` means success.
        case ended((any Error)?)
    }
}
