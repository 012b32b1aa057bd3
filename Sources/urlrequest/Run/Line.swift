/// Requests in the order in which they came; taking the first costs the same however many there are.
struct Line {
    private var requests: [InputRequest] = []
    /// The first that was not taken yet.
    private var first = 0

    var count: Int { requests.count - first }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ request: InputRequest) {
        requests.append(request)
    }

    mutating func popFirst() -> InputRequest? {
        guard first < requests.count else { return nil }
        defer { dropTaken() }
        first += 1
        return requests[first - 1]
    }

    /// Moving the rest forward for each would take quadratic time.
    private mutating func dropTaken() {
        guard first == requests.count || first > 1000 else { return }
        requests.removeFirst(first)
        first = 0
    }
}
