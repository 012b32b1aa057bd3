extension TransportTask {
    /// Fills in what the task does not set itself, from a configuration.
    ///
    /// - Parameter isProcessedByAdapters: Whether nothing but the configuration's adapters made the request.
    mutating func complete(from configuration: RequestConfiguration, isProcessedByAdapters: Bool) {
        complete(
            configuration.limits(for: self), trust: configuration.boxedTrust, onProgress: configuration.onProgress,
            mayBeSentAgain: isProcessedByAdapters && configuration.hasRepeatableAdapters)
    }
}
