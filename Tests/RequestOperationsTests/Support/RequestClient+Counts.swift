@testable import RequestOperations

extension RequestClient {
    /// How many calls wait for shared requests, and for how many requests.
    var sharing: (callers: Int, requests: Int) { (flights.callers, flights.count) }

    /// How many observers it keeps.
    var observerCount: Int { observers.count }
}
