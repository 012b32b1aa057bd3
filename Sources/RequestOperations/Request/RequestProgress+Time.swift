/// How long a request takes.
extension RequestProgress {
    /// The time since the operation became ready.
    func elapsed(at moment: Duration) -> Duration {
        readySince.map { moment - $0 } ?? .zero
    }

    /// The time since the first attempt was handed to the transport; `nil` if none was.
    func elapsedSinceSending(at moment: Duration) -> Duration? {
        firstSent.map { moment - $0 }
    }

    /// Whether an attempt was handed to the transport.
    var wasSent: Bool { firstSent != nil }

    /// The first attempt may have waited in the transport for a connection of others. The request's time begins after that.
    mutating func noteWait(in timings: TransferTimings) {
        guard let sent = firstSent, attempts.allSatisfy({ $0.boxedTimings == nil }) else { return }
        firstSent = sent + (timings.requestSent ?? timings.queue ?? .zero)
    }
}
