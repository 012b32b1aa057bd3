public import Foundation

/// A step of a queue, as ``OfflineRequestQueue/events`` reports it.
public enum OfflineEvent: Sendable {
    /// A record is on disk.
    case added(OfflineRecord.ID)
    /// These fields held credentials and were not stored. `URL` stands for a user in the URL.
    case credentialsOmitted(OfflineRecord.ID, fields: [String])
    /// A delivery of a record began.
    case began(OfflineRecord.ID)
    /// An attempt failed, and the record waits until a date.
    case waits(OfflineRecord.ID, until: Date, failure: String)
    /// A record has its outcome. This includes removals, drops and dead letters.
    case ended(OfflineRecord.ID, OfflineOutcome)
    /// This process has paused a lane. The lane is `nil` for the records without one. Sent once for each pause.
    case lanePaused(String?, LanePauseReason)
    /// The database was damaged, and this was done about it.
    case recovered(OfflineRecovery)
    /// Another process has taken over the sending. What was in flight here was cancelled.
    case leaseLost
    /// The store failed. The queue tries again by itself.
    case storeFailed(OfflineQueueError)
    /// The stream was full, because nobody read it. This many events that came then are missing.
    case missed(Int)
}

/// What was found and done when a database was damaged.
public struct OfflineRecovery: Sendable, Hashable {
    /// Where the damaged database is now; `nil` if the database itself could still be used.
    public let damagedFile: URL?
    /// How many records were read from it and are queued again.
    public let recovered: Int
    /// How many of them became dead letters, since their bytes are damaged.
    public let damagedRecords: Int
    /// How many commits are known to be lost; `nil` if that is not known.
    public let lostCommits: Int64?
    /// How many added records may be lost at most; `nil` if that is not known. Some may have been delivered before.
    public let missingRecords: Int?
    /// What the damage was, in one line.
    public let reason: String
}
