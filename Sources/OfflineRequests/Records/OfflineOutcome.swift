/// What became of a record.
public enum OfflineOutcome: Sendable, Hashable, Codable {
    /// The server accepted the record with this status. `nil` if a handler delivered it.
    case delivered(status: Int?)
    /// It is a dead letter. ``OfflineRequestQueue/retry(_:)`` revives it.
    case dead(DeadLetterReason)
    /// It was removed.
    case removed
    /// A later record with the same unique key took its place.
    case replaced(by: OfflineRecord.ID)
    /// A bound of the queue dropped it.
    case dropped(DropReason)

    /// The bound that dropped a record.
    public enum DropReason: String, Sendable, Hashable, Codable {
        /// There were too many records.
        case count
        /// The records had too many bytes.
        case bytes
        /// The record was too old.
        case age
    }
}
