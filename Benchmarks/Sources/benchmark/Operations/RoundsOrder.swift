import Foundation

/// Operations made, run and released, again and again: what they took has to come back.
struct RoundsOrder: Codable, Sendable {
    /// How many operations a round has, all in the queue before the first runs.
    var operations: Int
    /// How many rounds.
    var rounds: Int

    /// Measures the peak of each round and the size of the process after it.
    func carryOut() throws -> Sample {
        let factory = OperationFactory(.immediate)
        run(1000, factory)
        var peaks: [Double] = []
        var floors: [Double] = []
        for _ in 0..<rounds {
            try ProcessStatus.resetPeak()
            run(operations, factory)
            peaks.append(ProcessStatus.peak / 1e6)
            floors.append(ProcessStatus.residentAfterTrim / 1e6)
        }
        var sample = Sample()
        sample.values[.peak] = peaks.max()
        sample.values[.peakRatio] = largestStep(peaks)
        sample.values[.floorRatio] = largestStep(floors)
        sample.remarks = [
            "peaks \(peaks.map { $0.text(1) }.joined(separator: ", ")) MB, "
                + "floors \(floors.map { $0.text(1) }.joined(separator: ", ")) MB"
        ]
        return sample
    }

    private func run(_ count: Int, _ factory: OperationFactory) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = CostOrder.width
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation(factory.make()) }
        factory.countDown.expect(count)
        queue.isSuspended = false
        factory.countDown.wait()
        queue.waitUntilAllOperationsAreFinished()
    }

    private func largestStep(_ sizes: [Double]) -> Double? {
        zip(sizes, sizes.dropFirst()).map { $1 / $0 }.max()
    }
}
