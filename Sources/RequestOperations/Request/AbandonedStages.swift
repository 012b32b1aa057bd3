/// Stages of user code that were left behind because they did not return in time.
public enum AbandonedStages {
    private static let total = Locked(0)

    /// The number of such stages in this process so far.
    public static var count: Int { total.withLock { $0 } }

    static func countOne() {
        total.withLock { $0 += 1 }
    }
}
