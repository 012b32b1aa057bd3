import RequestOperations

/// Writes results to standard output in batches. Lines stay whole and in order.
///
/// It is used on one queue, except for ``hurry()``.
// Unchecked: everything except `writer` is used only on the reporter's queue.
final class ResultWriter: @unchecked Sendable {
    /// From this many bytes on, a batch is written without waiting for more.
    static let batchSize = 32 << 10

    private let writer: PatientWriter
    private var batch: [UInt8] = []
    private var failure: PatientWriter.Failure?

    /// Makes a writer for a descriptor.
    init(to descriptor: Int32) {
        writer = PatientWriter(to: descriptor)
        batch.reserveCapacity(2 * Self.batchSize)
    }

    /// Whether enough bytes for a batch wait.
    var isFull: Bool { batch.count >= Self.batchSize }

    /// Adds a line to the batch.
    func append(_ line: String) {
        if failure == nil { batch.append(contentsOf: line.utf8) }
    }

    /// Writes the batch. After a failure it writes nothing more.
    ///
    /// - Returns: The failure, if this call failed.
    func flush() -> PatientWriter.Failure? {
        guard failure == nil, !batch.isEmpty else { return nil }
        failure = batch.withUnsafeBytes(writer.write)
        batch.removeAll(keepingCapacity: true)
        return failure
    }

    /// From now on, waits at most one second for a reader. May be called on any thread.
    func hurry() {
        writer.hurry()
    }
}
