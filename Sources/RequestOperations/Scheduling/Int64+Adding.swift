extension Int64 {
    /// The sum, or the largest number if it overflows.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
