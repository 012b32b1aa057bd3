extension OfflineRequestQueue {
    /// Pauses a lane for all processes, until ``resume(lane:)``. The pause survives a restart.
    ///
    /// Records can be added to the lane, and stay in their order. A delivery under way goes on with its attempt, and makes
    /// no other. The first record of the lane is shown as waiting for ``OfflineRecord/WaitReason/paused``. Records still
    /// expire.
    ///
    /// - Parameter lane: The lane; `nil` for the one that all records without a lane share.
    /// - Returns: Whether the lane was not paused before.
    /// - Throws: ``OfflineQueueError``.
    @discardableResult
    public func pause(lane: String?) async throws -> Bool {
        try await dispatcher.pause(lane ?? "", because: .requested)
    }

    /// Lets a paused lane go on, in its order. It does not matter who paused it.
    ///
    /// - Parameter lane: The lane; `nil` for the one that all records without a lane share.
    /// - Returns: Whether the lane was paused.
    /// - Throws: ``OfflineQueueError``.
    @discardableResult
    public func resume(lane: String?) async throws -> Bool {
        let wasPaused = try await store.resume(lane: lane ?? "")
        dispatcher.search()
        return wasPaused
    }

    /// The paused lanes, in the order of their names.
    ///
    /// - Throws: ``OfflineQueueError``.
    public var pausedLanes: [PausedLane] {
        get async throws { try await store.pausedLanes() }
    }
}
