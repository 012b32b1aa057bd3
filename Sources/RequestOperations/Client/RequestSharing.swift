/// Whether calls with the same request share one operation while it is in flight.
///
/// Only `async` calls share, and only with a safe method (RFC 9110, section 9.2.1, and QUERY). One request is sent, and each
/// call gets its outcome. A call whose Task is cancelled leaves at once. The request is cancelled when the last one leaves.
public enum RequestSharing: Sendable, Hashable {
    /// The request is sent for this call alone.
    case never
    /// It is shared with calls of the same method, URL, fields, body and type of value.
    case identical
    /// It is shared with calls of the same key and type of value, whatever they would send.
    case key(String)
}
