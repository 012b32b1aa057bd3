import RequestOperations

extension RequestEvent.Step {
    /// The name of the case, without its associated values, for tests of the order of steps.
    package var name: String {
        switch self {
        case .began: "began"
        case .attemptBegan: "attemptBegan"
        case .hedgeBegan: "hedgeBegan"
        case .notHedged: "notHedged"
        case .hedgeDecided: "hedgeDecided"
        case .waitsForSlot: "waitsForSlot"
        case .gotSlot: "gotSlot"
        case .redirected: "redirected"
        case .head: "head"
        case .attemptFailed: "attemptFailed"
        case .decided: "decided"
        case .waitsForConnectivity: "waitsForConnectivity"
        case .waits: "waits"
        case .woke: "woke"
        case .uploadRefused: "uploadRefused"
        case .abandoned: "abandoned"
        case .ended: "ended"
        }
    }
}
