import RequestOperations

/// Writes results to standard output in batches, whole lines in their order.
///
/// Used on one queue, but for ``hurry()``.
// Unchecked: all but `writer` is touched on the reporter's queue only.
final class ResultWriter: @unchecked Sendable {
    /// Beyond this many bytes a batch is written without waiting for its end.
    static let batchSize = 32 << 10

    private let writer: PatientWriter
    private var batch: [UInt8] = []
    private var failure: PatientWriter.Failure?

    /// Makes a writer to a descriptor.
    init(to descriptor: Int32) {
        writer = PatientWriter(to: descriptor)
        batch.reserveCapacity(2 * Self.batchSize)
    }

    /// Whether enough lines wait for a batch.
    var isFull: Bool { batch.count >= Self.batchSize }

    /// Adds a line to the batch.
    func append(_ line: String) {
        if failure == nil { batch.append(contentsOf: line.utf8) }
    }

    /// Writes the batch. After a failure, nothing is written any more.
    ///
    /// - Returns: The failure if it came now.
    func flush() -> PatientWriter.Failure? {
        guard failure == nil, !batch.isEmpty else { return nil }
        failure = batch.withUnsafeBytes(writer.write)
        batch.removeAll(keepingCapacity: true)
        return failure
    }

    /// From now on, waits a second at most for somebody to read. From any thread.
    func hurry() {
        writer.hurry()
    }
}
