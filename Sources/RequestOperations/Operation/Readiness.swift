/// What the readers of `isReady` were last told.
///
/// A queue of Foundation's that reads "not ready" while it takes an operation in may miss the announcement that comes
/// meanwhile: it stores its answer afterwards, reads again, and does nothing about the new answer until it is told to. So
/// whoever reads "ready" of an operation that had to wait and is not started yet causes another announcement, a bounded
/// number of times.
enum Readiness {
    case unknown
    case notReady
    case ready(announcementsLeft: UInt8)

    struct Change {
        var isTurn = false
        var isToBeAnnounced = false
    }

    private static let announcements: UInt8 = 8

    /// Notes what a reader is told.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether the operation had to wait, for all that the reader knows, and is not started yet.
    ///   - isHeld: Whether no queue of Foundation's has the operation, so that none can miss anything.
    mutating func update(to isReady: Bool, isWaiting: Bool, isHeld: Bool) -> Change {
        switch (self, isReady) {
        case (.notReady, true) where isHeld:
            self = .ready(announcementsLeft: 0)
            return Change(isTurn: true)
        case (.unknown, true):
            self = .ready(announcementsLeft: 0)
            return Change(isTurn: true)
        case (.notReady, true):
            self = .ready(announcementsLeft: Self.announcements)
            return Change(isTurn: true, isToBeAnnounced: true)
        case (.ready(let left), true):
            guard isWaiting, left > 0 else { return Change() }
            self = .ready(announcementsLeft: left - 1)
            return Change(isToBeAnnounced: true)
        case (.ready, false):
            self = .notReady
            return Change(isTurn: true)
        case (.unknown, false), (.notReady, false):
            self = .notReady
            return Change()
        }
    }
}
