/// Whether calls with the same request share one operation while it is in flight.
///
/// Only `async` calls share, and only with a safe method (RFC 9110, section 9.2.1, and QUERY). One request is sent, and each
/// call gets its outcome. The tag and the user info are those of the first call. A call whose Task is cancelled leaves at
/// once. The request is cancelled when the last one leaves.
public enum RequestSharing: Sendable, Hashable {
    /// The request is sent for this call alone.
    case never
    /// It is shared with calls of the same method, URL, fields, body and type of value.
    ///
    /// Adapters do not count, because they run later. A call that changes its configuration does not share, and none
    /// shares with a call from before a change of the client's settings. If adapters read who is signed in from
    /// elsewhere, call ``RequestClient/cancelAll()`` when that changes: a cancelled request is not shared any more.
    case identical
    /// It is shared with calls of the same key and type of value, whatever they would send.
    case key(String)
}
