extension RequestConfiguration: CustomStringConvertible, CustomReflectable {
    /// One line: the transport, the adapters, the number of retries and the deadline.
    public var description: String {
        var parts = ["\(type(of: transport))"]
        if !adapters.isEmpty { parts.append("adapters: \(adapters.map(\.description).joined(separator: "; "))") }
        parts.append("\(retryPolicy.maximumRetries) retries")
        if let deadline { parts.append("deadline \(deadline)") }
        return parts.joined(separator: ", ")
    }

    /// The plain settings. Values that are code, or that may hold anything, are shown by their type, such as the
    /// transport.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "transport": "\(type(of: transport))", "adapters": adapters, "redirects": redirects,
                "trust": trust as Any, "freshness": freshness, "maximumRetries": retryPolicy.maximumRetries,
                "hedging": hedging as Any, "waitsForConnectivity": waitsForConnectivity,
                "connectTimeLimit": connectTimeLimit as Any, "idleTimeLimit": idleTimeLimit as Any,
                "attemptTimeLimit": attemptTimeLimit as Any, "deadline": deadline as Any,
                "stageTimeLimits": stageTimeLimits, "maximumBodySize": maximumBodySize as Any,
                "maximumDecompressionRatio": maximumDecompressionRatio as Any, "errorBodyLimit": errorBodyLimit,
            ])
    }
}
