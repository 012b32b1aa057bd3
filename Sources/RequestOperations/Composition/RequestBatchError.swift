/// An error of a ``RequestBatch`` itself.
public enum RequestBatchError: Error, Hashable {
    /// The quorum is larger than the number of members.
    case tooFewMembers
}
