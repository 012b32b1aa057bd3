/// The progress of a batch, a group or a chain: how many members have ended, and how far those that run have come.
///
/// A million members must not need a million progress objects. So a running member is followed only if somebody asked
/// for the progress before the member began.
final class MemberProgress: Sendable {
    private struct State {
        var counts: MemberCounts
        /// Made when somebody asks for it.
        var tree: LockedProgress?
        /// Made when somebody asks for updates.
        var broadcast: Broadcast<ProgressUpdate>?
        var lastPart = 0

        var isWatched: Bool { tree != nil || broadcast != nil }

        /// The tree, if its total is known. On Linux the fraction of an unknown total with children is 0 for ever.
        var treeForChildren: LockedProgress? { counts.total == nil ? nil : tree }
    }

    private let state: Locked<State>
    /// Keeps totals in their order. Recursive, because an observer of a total may read the progress.
    private let order = NSRecursiveLock()

    /// Makes a progress.
    ///
    /// - Parameter total: The number of members; `nil` while it is unknown.
    init(total: Int?) {
        state = Locked(State(counts: MemberCounts(total: total.map { Int64($0) })))
    }

    // MARK: Watching

    /// The `Progress`. A member that runs is a child of it.
    ///
    /// - Parameter cancel: Cancels the operation, when the progress is cancelled.
    func tree(cancel: @escaping @Sendable () -> Void) -> Progress {
        state.withLock { state in
            if let tree = state.tree { return tree }
            let tree = LockedProgress()
            tree.totalUnitCount = state.counts.total ?? -1
            tree.completedUnitCount = state.counts.completed
            tree.isPausable = false
            tree.cancellationHandler = cancel
            state.tree = tree
            return tree
        }
    }

    /// The present state and each change, of which only the newest is kept. It ends with the operation.
    var updates: AsyncStream<ProgressUpdate> {
        let (broadcast, isOver) = state.withLock { state in
            let known = state.broadcast ?? Broadcast(state.counts.update, number: state.counts.number)
            state.broadcast = known
            return (known, state.counts.isOver)
        }
        if isOver { broadcast.end() }
        return broadcast.stream()
    }

    // MARK: Counting

    /// Changes the number of members.
    func expect(_ count: Int64) {
        change { $0.expect(count) }
        copyCounts()
    }

    /// Runs a member, and counts it when it has ended.
    ///
    /// - Parameters:
    ///   - member: The member. If it reports its progress, that counts in part while it runs.
    ///   - units: How many members it stands for. 1 by default.
    ///   - run: Runs the member to its end.
    /// - Returns: What `run` returns.
    func count<Result>(_ member: Operation, as units: Int64 = 1, while run: () async -> Result) async -> Result {
        let (part, tree, isWatched) = state.withLock { state in
            state.lastPart += 1
            return (state.lastPart, state.treeForChildren, state.isWatched)
        }
        guard isWatched, let member = member as? any ProgressReporting else {
            defer { end(part, as: units, child: nil) }
            return await run()
        }
        let child = tree?.newChild(for: units)
        let updates = member.progressUpdates
        async let reports: Void = follow(updates, of: part, as: units, child: child)
        let result = await run()
        await reports
        end(part, as: units, child: child)
        return result
    }

    /// Counts a member that did not run.
    func countOne() {
        end(0, as: 1, child: nil)
    }

    /// Nothing is left to be counted.
    func complete() {
        change { $0.complete() }
        state.withLock { $0.tree }?.complete()
    }

    /// Nothing more is counted.
    func end() {
        change { $0.end() }
        copyCounts()
        state.withLock { $0.broadcast }?.end()
    }

    private func follow(
        _ updates: AsyncStream<ProgressUpdate>, of part: Int, as units: Int64, child: LockedProgress?
    ) async {
        for await update in updates {
            guard let fraction = update.fraction, fraction < 1 else { continue }
            change { $0.report(fraction, of: part, as: units) }
            child?.advance(to: fraction)
        }
    }

    private func end(_ part: Int, as units: Int64, child: LockedProgress?) {
        let tree = change { $0.end(part, as: units) }
        // The completed child adds its units to the tree.
        if let child = child ?? tree?.newChild(for: units) { child.complete() } else { copyCounts() }
    }

    /// Changes the counts and reports them. Returns the tree for a child, as it was at the change.
    @discardableResult
    private func change(_ change: (inout MemberCounts) -> Void) -> LockedProgress? {
        let (tree, broadcast, counts) = state.withLock { state in
            change(&state.counts)
            return (state.treeForChildren, state.broadcast, state.counts)
        }
        // The broadcast drops an update whose number is that of the last one.
        broadcast?.send(counts.update, number: counts.number)
        return tree
    }

    /// Copies to the tree what no child reports: the total, and the count while there is no total or at the end.
    private func copyCounts() {
        order.withLock {
            let (tree, counts) = state.withLock { ($0.tree, $0.counts) }
            guard let tree else { return }
            if let total = counts.total { tree.totalUnitCount = total }
            if counts.total == nil || counts.isOver { tree.completedUnitCount = counts.completed }
        }
    }
}

extension LockedProgress {
    /// The units of a child.
    private static let fine: Int64 = 1000

    /// Makes a child that stands for some units of this progress.
    fileprivate func newChild(for units: Int64) -> LockedProgress {
        let child = LockedProgress(guardedBy: lock)
        child.totalUnitCount = Self.fine
        addChild(child, withPendingUnitCount: units)
        return child
    }

    /// Sets how far a child has come. It never goes back.
    fileprivate func advance(to fraction: Double) {
        completedUnitCount = max(completedUnitCount, Int64(fraction * Double(Self.fine)))
    }

    fileprivate func complete() {
        completedUnitCount = totalUnitCount
    }
}

/// How far the members of a batch, a group or a chain have come. A pure value.
struct MemberCounts: Sendable {
    /// The number of members; `nil` while it is unknown.
    private(set) var total: Int64?
    /// How many members have ended.
    private(set) var completed: Int64 = 0
    /// The number of the last change.
    private(set) var number = 0
    /// Whether nothing more is counted.
    private(set) var isOver = false
    /// The done parts of members that run, by the number of the member, in members.
    private var parts: [Int: Double] = [:]

    init(total: Int64?) {
        self.total = total
    }

    /// What is reported.
    var update: ProgressUpdate {
        var update = ProgressUpdate(completed: completed, total: total)
        update.running = parts.values.reduce(0, +)
        return update
    }

    mutating func expect(_ count: Int64) {
        total = total.map { $0 + count }
        number += 1
    }

    /// A member has come so far. A part that gets smaller, because the length of a body became known, is ignored.
    ///
    /// - Parameters:
    ///   - part: The number of the member, which runs.
    ///   - fraction: How much of it is done, from 0 to 1.
    ///   - units: How many members it stands for.
    mutating func report(_ fraction: Double, of part: Int, as units: Int64) {
        let done = fraction * Double(units)
        guard done > parts[part] ?? 0 else { return }
        parts[part] = done
        number += 1
    }

    /// A member has ended.
    mutating func end(_ part: Int, as units: Int64) {
        parts[part] = nil
        completed += units
        number += 1
    }

    /// Nothing is left to be counted.
    mutating func complete() {
        completed = max(total ?? 0, completed)
        number += 1
    }

    /// Nothing more is counted. A total that was unknown or too low becomes right.
    mutating func end() {
        total = max(total ?? 0, completed)
        isOver = true
        number += 1
    }
}

/// An operation that reports its progress.
protocol ProgressReporting {
    var progressUpdates: AsyncStream<ProgressUpdate> { get }
}

extension URLRequestOperation: ProgressReporting {}
extension RequestBatch: ProgressReporting {}
extension RequestGroup: ProgressReporting {}
extension StepChain: ProgressReporting {}
extension RequestChain: ProgressReporting {}
