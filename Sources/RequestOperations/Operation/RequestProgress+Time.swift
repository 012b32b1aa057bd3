/// How long a request takes.
extension RequestProgress {
    /// The time since the operation became ready.
    func elapsed(at moment: Timepiece.Moment) -> Duration {
        readySince.map { moment.time - $0 } ?? .zero
    }

    /// The time since the first attempt was handed to the transport; `nil` if none was.
    func elapsedSinceSending(at moment: Timepiece.Moment) -> Duration? {
        firstSent.map { moment.time - $0 }
    }

    /// Whether an attempt was handed to the transport.
    var wasSent: Bool { firstSent != nil }
}
