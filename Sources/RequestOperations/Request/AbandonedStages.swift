/// Stages of user code that were left behind since they did not answer in time.
public enum AbandonedStages {
    private static let total = Locked(0)

    /// How many there were in this process.
    public static var count: Int { total.withLock { $0 } }

    static func countOne() {
        total.withLock { $0 += 1 }
    }
}
