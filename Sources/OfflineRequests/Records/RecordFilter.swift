/// Selects the records that match every given part.
public struct RecordFilter: Sendable, Hashable {
    /// The kinds of state.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// Ready to be sent.
        case pending = 0
        /// Waiting for a time or an event.
        case waiting = 1
        /// Being delivered.
        case inFlight = 2
        /// Given up.
        case dead = 3
    }

    /// The states. All by default.
    public var kinds: Set<Kind> = Set(Kind.allCases)
    /// The lane. `nil` by default, which means any. An empty text means the lane of the records without one.
    public var lane: String?
    /// The tag. `nil` by default, which means any.
    public var tag: String?

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - kinds: The states. All by default.
    ///   - lane: The lane. Any by default.
    ///   - tag: The tag. Any by default.
    public init(_ kinds: Set<Kind> = Set(Kind.allCases), lane: String? = nil, tag: String? = nil) {
        self.kinds = kinds
        self.lane = lane
        self.tag = tag
    }

    /// All records.
    public static let all = RecordFilter()
}
