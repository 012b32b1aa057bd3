/// What the readers of `isReady` were last told.
///
/// A queue of Foundation's can miss an announcement that comes while it takes an operation in. It reads "not ready" and
/// stores that answer later. It then reads again, but does nothing about the new answer until it is told to. So a read
/// of "ready" causes another announcement, if the operation had to wait and is not started yet. The number of these
/// announcements is bounded.
enum Readiness {
    case unknown
    case notReady
    case ready(announcementsLeft: UInt8)

    struct Change {
        var isTurn = false
        var isToBeAnnounced = false
    }

    private static let announcements: UInt8 = 8

    /// Records what a reader is told.
    ///
    /// - Parameters:
    ///   - isReady: The answer.
    ///   - isWaiting: Whether, as far as the reader knows, the operation had to wait and is not started yet.
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

extension Readiness {
    /// Announces readiness a second time. A read of `isReady` on this queue comes from that announcement, and not from
    /// another reader.
    static let queue = {
        let queue = DispatchQueue(label: "RequestOperations.readiness")
        queue.setSpecific(key: key, value: true)
        return queue
    }()

    private static let key = DispatchSpecificKey<Bool>()

    /// Whether the current code runs on that queue.
    static var isBeingAnnounced: Bool { DispatchQueue.getSpecific(key: key) == true }
}
