/// Limits the work between the input and the output: requests that wait or run, and results that are not printed yet.
///
/// One Task takes places. Any thread may give them back.
struct OpenPlaces: Sendable {
    /// How many places there are.
    let count: Int

    private let places: AsyncStream<Void>
    private let giver: AsyncStream<Void>.Continuation

    /// Makes places, all of them open.
    init(_ count: Int) {
        self.count = count
        (places, giver) = AsyncStream.makeStream()
        giveBack(count)
    }

    /// Takes places. It waits until there are enough.
    ///
    /// - Throws: `CancellationError` when the Task is cancelled. After that no place can be taken.
    func take(_ number: Int) async throws {
        var places = places.makeAsyncIterator()
        for _ in 0..<number {
            guard await places.next() != nil else { throw CancellationError() }
        }
    }

    /// Gives places back.
    func giveBack(_ number: Int) {
        for _ in 0..<number { giver.yield() }
    }
}
