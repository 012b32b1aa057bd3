/// One step of a request, as ``RequestConfiguration/onEvent`` hears of it.
///
/// The steps of one request come in this order, those in braces once for each attempt:
/// `began` { `attemptBegan`, (`waitsForConnectivity`, `woke`)…, (`waits`, `woke`)…, (`waitsForSlot`, `gotSlot`)…, (`redirected`, (`waitsForSlot`, `gotSlot`))…,
/// `head`, `attemptFailed`, `decided`, (`waits`, `woke`)… } `ended`. What does not happen is left out.
///
/// The first attempt waits for a network if the configuration says so. An attempt waits if its host has asked another request
/// to leave it alone, of which this one had not heard when it was decided upon (``HostRegistry``). With a limiter an
/// attempt waits for its slot once, and a second time if it waited longer than the configuration's
/// ``RequestConfiguration/freshness`` and was processed again; a redirect that leads to another host waits for a slot there.
/// A retry waits a second time if its ``RetryBudget`` has no room when its wait is over.
/// With ``RequestConfiguration/hedging`` an attempt may have `hedgeBegan` or `notHedged` before its `head`. From `hedgeBegan`
/// on the steps of the attempts that run beside each other (`redirected`, `waitsForSlot`, `gotSlot`, `head`) come as they
/// happen, and `attemptFailed` for each of them that fails while another may still answer, or that decides the outcome;
/// `hedgeDecided` says which one the request goes on with.
/// `abandoned` comes whenever a stage is left behind, once for each; nothing comes after `ended`, which may be told a
/// moment after the result is there.
public struct RequestEvent: Sendable {
    /// The request.
    public let id: RequestID
    /// The step.
    public let step: Step
    /// Why the operation waits; `nil` for all steps but `waits`.
    public internal(set) var waitReason: WaitReason?

    /// The steps of a request.
    public enum Step: Sendable {
        /// The operation was started.
        case began
        /// An attempt with this number began.
        case attemptBegan(Int)
        /// A hedge with this number was sent beside the attempt that runs; it has no `attemptBegan`.
        case hedgeBegan(Int)
        /// The attempt that runs is not helped by a hedge, though it is time.
        case notHedged(Hedging.Refusal)
        /// Of the attempts that run beside each other the one with this number has the answer, be it a failure; the others
        /// are cancelled.
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
        /// It was decided what follows a failed attempt.
        case decided(RetryDecision)
        /// The first attempt waits until the machine is connected to a network
        /// (``RequestConfiguration/waitsForConnectivity``).
        case waitsForConnectivity
        /// The operation waits before its next attempt, for at most this time. ``RequestEvent/waitReason`` says why.
        case waits(Duration)
        /// The wait is over.
        case woke(WakeReason)
        /// User code that did not answer in time was left behind, and its answer, should it come, is dropped.
        case abandoned(RequestError.Stage)
        /// The operation ended: `nil` for a success.
        case ended((any Error)?)
    }
}
