/// One step of a request, as ``RequestConfiguration/onEvent`` hears of it.
///
/// The steps of one request come in this order, those in braces once for each attempt:
/// `began` { `attemptBegan`, (`waitsForSlot`, `gotSlot`), (`redirected`)…, `head`, `attemptFailed`, `decided`, (`waits`,
/// `woke`) } `ended`. What does not happen is left out; nothing comes after `ended`.
public struct RequestEvent: Sendable {
    /// The request.
    public let id: RequestID
    /// The step.
    public let step: Step

    /// The steps of a request.
    public enum Step: Sendable {
        /// The operation was started.
        case began
        /// An attempt with this number began.
        case attemptBegan(Int)
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
        /// The operation waits before its next attempt.
        case waits(Duration)
        /// The wait is over.
        case woke(WakeReason)
        /// User code that did not answer in time was left behind, and its answer, should it come, is dropped.
        case abandoned(RequestError.Stage)
        /// The operation ended: `nil` for a success.
        case ended((any Error)?)
    }
}
