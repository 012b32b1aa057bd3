/// Judges the verified chain of a server by the pins for its host. A pure value.
struct PinCheck: Sendable {
    /// A certificate of a chain.
    struct Certificate: Sendable, Hashable {
        let key: ServerPin
        let whole: ServerPin
    }

    enum Verdict: Sendable, Hashable {
        /// No pins are for the host, or one matches.
        case passes
        /// No pin matches, which is only reported.
        case passesUnpinned(PinReport, [PinReport.Handler])
        case fails(PinReport)
    }

    private let pins: [HostPins]

    init(_ pins: [HostPins]) {
        self.pins = pins
    }

    /// Judges a chain.
    ///
    /// - Parameters:
    ///   - chain: The verified chain, the certificate of the server first.
    ///   - host: The host of the request.
    ///   - port: The port of the request.
    ///   - date: Now.
    func verdict(on chain: [Certificate], of host: String, port: Int, at date: Date) -> Verdict {
        let relevant = pins.filter { $0.pattern.matches(host, port: port) && $0.expires.map { date < $0 } ?? true }
        guard !relevant.isEmpty else { return .passes }
        let expected = relevant.flatMap(\.pins)
        let isPinned = chain.contains { expected.contains($0.key) || expected.contains($0.whole) }
        guard !isPinned else { return .passes }
        let report = PinReport(host: host, presented: chain.map(\.key), expected: expected)
        let handlers = relevant.compactMap { if case .reportOnly(let handler) = $0.mode { handler } else { nil } }
        return handlers.count == relevant.count ? .passesUnpinned(report, handlers) : .fails(report)
    }
}
