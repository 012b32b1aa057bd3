import RequestOperations

/// Counts the attempts of a request that began, that is, that got their place. A pure value.
///
/// In a queue the first attempt has its place from the beginning. Every later attempt gets a place during the attempt.
/// If the host must be left alone, an attempt that has not been sent loses its place.
struct AttemptCount {
    private enum Phase {
        case waits
        case hasPlace
        case wasSent
    }

    private var number = 0
    private var phase = Phase.waits
    private var lastRetry = 1

    /// How many attempts began.
    var begun: Int {
        switch phase {
        case .waits: max(number - 1, 0)
        case .hasPlace, .wasSent: number
        }
    }

    /// Notes a step of the request. Returns whether a retry begins with it.
    mutating func note(_ step: RequestEvent.Step) -> Bool {
        switch (step, phase) {
        case (.attemptBegan(let next), _):
            number = next
            phase = next == 1 ? .hasPlace : .waits
        case (.waits, .hasPlace), (.waitsForSlot, .hasPlace): phase = .waits
        case (.gotSlot, .waits): return getPlace()
        case (.redirected, _), (.head, _), (.attemptFailed, _): phase = .wasSent
        default: break
        }
        return false
    }

    private mutating func getPlace() -> Bool {
        phase = .hasPlace
        guard number > lastRetry else { return false }
        lastRetry = number
        return true
    }
}
