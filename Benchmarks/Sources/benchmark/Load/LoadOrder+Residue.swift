import Foundation

extension LoadOrder {
    /// Measures how much larger the process is when all requests have ended than after its very first one.
    func measureResidue() throws -> Sample {
        let generator = try client.makeGenerator(self)
        try generator.prepare()
        let rest = ProcessStatus.residentAfterTrim
        _ = try generator.run(amount, of: self)
        // The last operations and Tasks are released a moment after their values came.
        usleep(200_000)
        var sample = Sample()
        sample.values[.growth] = (ProcessStatus.residentAfterTrim - rest) / 1e6
        sample.values[.peak] = ProcessStatus.peak / 1e6
        return sample
    }
}
