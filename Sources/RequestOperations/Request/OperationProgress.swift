/// The progress of an operation, and its updates. A request counts bytes. A batch, a group and a chain count their members.
///
/// A million members must not need a million progress objects. So a running member is followed only if somebody asked
/// for the progress before the member began.
final class OperationProgress: Sendable {
    private struct State {
        var progress: ProgressState
        /// Made when somebody asks for it.
        var tree: LockedProgress?
        /// Made when somebody asks for updates.
        var broadcast: Broadcast<ProgressUpdate>?

        /// The tree, if its total is known. On Linux the fraction of an unknown total with children is 0 for ever.
        var treeForChildren: LockedProgress? { progress.update.total == nil ? nil : tree }
    }

    private let state: Locked<State>
    /// Keeps the changes of a tree of members in their order. Recursive, because an observer of the tree may read the progress.
    private let order = NSRecursiveLock()

    init(_ progress: ProgressState) {
        state = Locked(State(progress: progress))
    }

    // MARK: Watching

    /// The `Progress`. A member that runs is a child of it.
    ///
    /// - Parameter cancel: Cancels the operation, when the progress is cancelled.
    func tree(cancel: @escaping @Sendable () -> Void) -> Progress {
        state.withLock { state in
            if let tree = state.tree { return tree }
            let tree = LockedProgress()
            tree.totalUnitCount = -1
            tree.isPausable = false
            tree.cancellationHandler = cancel
            tree.copy(state.progress, withCount: true)
            state.tree = tree
            return tree
        }
    }

    /// The present state and each change, of which only the newest is kept. It ends with the operation.
    var updates: AsyncStream<ProgressUpdate> {
        let (broadcast, isOver) = state.withLock { state in
            let known = state.broadcast ?? Broadcast(state.progress.update, number: state.progress.number)
            state.broadcast = known
            return (known, state.progress.isOver)
        }
        if isOver { broadcast.end() }
        return broadcast.stream()
    }

    // MARK: Counting

    /// Changes the progress, and reports that.
    func change(_ change: (inout ProgressState) -> Void) {
        state.withLock { change(&$0.progress) }
        // A listener to the updates finds the same in the tree.
        copy()
        _ = send { _ in }
    }

    /// Runs a member, and counts it when it has ended. If it reports its progress, that counts in part while it runs.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - run: Runs the member to its end.
    /// - Returns: What `run` returns.
    func count<Result>(_ member: Operation, while run: () async -> Result) async -> Result {
        let (tree, isWatched) = state.withLock { ($0.treeForChildren, $0.tree != nil || $0.broadcast != nil) }
        guard isWatched, let updates = (member as? any ProgressReporting)?.progressUpdates else {
            defer { countEnd(of: member) }
            return await run()
        }
        let child = tree?.newChild()
        async let reports: Void = follow(updates, of: member, child)
        let result = await run()
        await reports
        countEnd(of: member, child)
        return result
    }

    private func follow(_ updates: AsyncStream<ProgressUpdate>, of member: Operation, _ child: LockedProgress?) async {
        for await update in updates {
            guard let fraction = update.fraction, fraction < 1 else { continue }
            _ = send { $0.report(fraction, of: ObjectIdentifier(member)) }
            child?.advance(to: fraction)
        }
    }

    /// Counts a member that has ended, or one that did not run.
    func countEnd(of member: Operation? = nil, _ child: LockedProgress? = nil) {
        let tree = send { $0.end(member.map { ObjectIdentifier($0) }) }
        // The completed child adds its unit to the tree.
        if let child = child ?? tree?.newChild() { child.completedUnitCount = child.totalUnitCount } else { copy() }
    }

    /// Changes the progress and sends the update. Returns the tree for a child, as it was at the change.
    private func send(_ change: (inout ProgressState) -> Void) -> LockedProgress? {
        let (tree, broadcast, progress) = state.withLock { state in
            change(&state.progress)
            return (state.treeForChildren, state.broadcast, state.progress)
        }
        // The broadcast drops an update whose number is that of the last one.
        broadcast?.send(progress.update, number: progress.number)
        if progress.isOver { broadcast?.end() }
        return tree
    }

    /// Copies to the tree what no child reports. The count of members is that only while there is no total, or at the end.
    private func copy() {
        let (tree, progress) = state.withLock { ($0.tree, $0.progress) }
        guard let tree else { return }
        // Observers of the tree run outside all locks. Two threads may arrive there in the wrong order.
        guard progress.countsMembers else { return tree.copy(progress, withCount: true) }
        order.withLock {
            let progress = state.withLock { $0.progress }
            tree.copy(progress, withCount: progress.update.total == nil || progress.isOver)
        }
    }
}

extension LockedProgress {
    /// Makes a child that stands for one unit of this progress.
    fileprivate func newChild() -> LockedProgress {
        let child = LockedProgress(guardedBy: lock)
        child.totalUnitCount = 1000
        addChild(child, withPendingUnitCount: 1)
        return child
    }

    /// Sets how far a child has come. It never goes back.
    fileprivate func advance(to fraction: Double) {
        completedUnitCount = max(completedUnitCount, Int64(fraction * Double(totalUnitCount)))
    }

    fileprivate func copy(_ progress: ProgressState, withCount: Bool) {
        let update = progress.update
        lock.withLock {
            guard progress.countsMembers || update.completed >= completedUnitCount else { return }
            if let total = update.total { totalUnitCount = total }
            if withCount { completedUnitCount = update.completed }
            setUserInfoObject(update.throughput.map { Int(min($0, 9e18)) }, forKey: .throughputKey)
            setUserInfoObject(update.timeLeft.map(\.inSeconds), forKey: .estimatedTimeRemainingKey)
        }
    }
}

/// An operation that reports its progress.
protocol ProgressReporting {
    var progressUpdates: AsyncStream<ProgressUpdate> { get }
}

extension URLRequestOperation: ProgressReporting {}

/// How far an operation has come, and how fast it is.
///
/// A request counts bytes. A batch, a group and a chain count their members, and have no speed.
public struct ProgressUpdate: Sendable, Hashable {
    /// The bytes of both bodies, or the number of members that are done. Bytes that were there before count too. For an
    /// upload, only the request's body counts.
    ///
    /// The number never decreases. If a later attempt starts again with a shorter body, the number exceeds that body's
    /// length.
    public var completed: Int64

    /// The length of both bodies in bytes, or the number of members; `nil` while it is unknown.
    public var total: Int64?

    /// Bytes for each second, over the last 5 seconds of the running attempt; `nil` until that is known.
    public var throughput: Double?

    /// The done parts of the members that run, in members. They are in ``fraction`` and not in ``completed``.
    var running = 0.0

    /// Makes a value. By default nothing is known.
    public init(completed: Int64 = 0, total: Int64? = nil, throughput: Double? = nil) {
        self.completed = completed
        self.total = total
        self.throughput = throughput
    }

    /// The part that is done, from 0 to 1; `nil` while the total is unknown. Members that run count in part.
    public var fraction: Double? {
        total.map { $0 > 0 ? min((Double(completed) + running) / Double($0), 1) : 1 }
    }

    /// The time until the end at the present speed; `nil` while the total or the speed is unknown. It is at most a year.
    public var timeLeft: Duration? {
        guard let total, let throughput else { return nil }
        guard completed < total else { return .zero }
        let year = 365.0 * 24 * 3600
        return .seconds(throughput > 0 ? min(Double(total - completed) / throughput, year) : year)
    }
}

/// The progress of an operation over all its attempts or members. A pure value.
struct ProgressState: Sendable {
    /// Whether it counts members, and not bytes.
    let countsMembers: Bool
    /// The update that listeners get.
    private(set) var update = ProgressUpdate() {
        didSet { if update != oldValue { number += 1 } }
    }
    /// The number of the last change.
    private(set) var number = 0
    /// Whether nothing more is counted.
    private(set) var isOver = false
    private var meter = ThroughputMeter()
    /// The done parts of the members that run.
    private var parts: [ObjectIdentifier: Double] = [:]

    /// The progress of a request.
    init() {
        countsMembers = false
    }

    /// The progress of an operation with members. Their number is `nil` while it is unknown.
    init(ofMembers total: Int?) {
        countsMembers = true
        update = ProgressUpdate(total: total.map { Int64($0) })
    }

    /// Everything is there. An operation without a body counts as one unit. Members that need not run count too.
    mutating func succeed() {
        let whole = countsMembers ? max(update.total ?? 0, update.completed) : max(update.completed, 1)
        (update.completed, update.total) = (whole, whole)
    }

    /// Nothing more is counted. A number of members that was unknown or too low becomes right.
    mutating func end() {
        if countsMembers { update.total = max(update.total ?? 0, update.completed) }
        isOver = true
    }

    // MARK: A request

    /// A new attempt begins. Its reports count once it is further than the earlier ones.
    mutating func beginAttempt() {
        meter = ThroughputMeter()
    }

    /// Takes in how far the transfer of an attempt has come. The progress never goes back.
    mutating func report(_ transfer: TransferProgress, at moment: Duration) {
        let completed = transfer.bytesSent.adding(transfer.bytesReceived)
        meter.note(completed, at: moment)
        let furthest = max(completed, update.completed)
        let total = transfer.total.map { max($0, furthest) } ?? update.total
        guard !isOver, furthest > update.completed || total != update.total || total == nil else { return }
        update = ProgressUpdate(completed: furthest, total: total, throughput: meter.perSecond)
    }

    // MARK: Members

    /// Changes the number of members.
    mutating func expect(_ count: Int64) {
        update.total = update.total.map { $0 + count }
    }

    /// A running member has come so far, from 0 to 1. A part that gets smaller, because the length of a body became known, is
    /// ignored.
    mutating func report(_ fraction: Double, of member: ObjectIdentifier) {
        let known = parts[member] ?? 0
        guard fraction > known else { return }
        parts[member] = fraction
        update.running += fraction - known
    }

    /// A member has ended, or need not run.
    mutating func end(_ member: ObjectIdentifier?) {
        var next = update
        next.completed += 1
        if let part = member.flatMap({ parts.removeValue(forKey: $0) }) {
            next.running = parts.isEmpty ? 0 : next.running - part
        }
        update = next
    }
}

extension TransferProgress {
    /// The bytes of both bodies together. `nil` while one of the lengths is unknown.
    fileprivate var total: Int64? {
        guard let bytesToReceive else { return nil }
        // A body that was sent without a length has its whole length when the response arrives.
        // A server may announce any length.
        return (bytesToSend ?? bytesSent).adding(bytesToReceive)
    }
}

/// Measures how many bytes an attempt moves in a second, over its last seconds. A pure value.
///
/// The bytes that are there at the first report of an attempt do not count: they may come from an earlier one.
package struct ThroughputMeter: Sendable {
    private struct Sample {
        let moment: Duration
        let bytes: Int64
    }

    /// Oldest first. The last one is the newest report. The others have some time between them.
    private var samples: [Sample] = []

    private static let window = Duration.seconds(5)
    private static let spacing = Duration.milliseconds(200)
    /// A shorter time says nothing about a speed.
    private static let shortest = Duration.milliseconds(10)

    package init() {}

    /// Takes in how many bytes the attempt has moved at a moment.
    package mutating func note(_ bytes: Int64, at moment: Duration) {
        // A redirect may send a body from its first byte again.
        if let last = samples.last, bytes < last.bytes || moment < last.moment { samples = [] }
        let sample = Sample(moment: moment, bytes: bytes)
        if samples.count > 1, moment - samples[samples.count - 2].moment < Self.spacing {
            samples[samples.count - 1] = sample
        } else {
            samples.append(sample)
        }
        while samples.count > 2, samples[1].moment <= moment - Self.window { samples.removeFirst() }
    }

    /// Bytes for each second; `nil` until there are two reports with some time between them.
    package var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.moment - first.moment >= Self.shortest else {
            return nil
        }
        return Double(last.bytes - first.bytes) / (last.moment - first.moment).inSeconds
    }
}
