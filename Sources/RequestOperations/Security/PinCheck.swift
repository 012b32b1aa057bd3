/// Judges the verified chain of a server by the pins for its host. A pure value.
struct PinCheck: Sendable {
    /// A certificate of a chain.
    struct Certificate: Sendable, Hashable {
        let key: ServerPin
        let whole: ServerPin

        init(key: ServerPin, whole: ServerPin) {
            self.key = key
            self.whole = whole
        }

        /// The pins of a certificate in DER; `nil` if it is none.
        ///
        /// The bytes are those of a server. They are never searched for PEM: a field of a certificate may have the text of a
        /// pinned one in it.
        init?(der: Data) {
            guard let key = CertificateFile.key(of: der) else { return nil }
            self.init(
                key: ServerPin(.key, SHA2.digest(of: key)), whole: ServerPin(.certificate, SHA2.digest(of: der)))
        }
    }

    struct Verdict: Sendable, Hashable {
        /// Why the connection fails; `nil` if it may be used.
        var failure: PinReport?
        /// What is told to whom.
        var reports: [Message] = []

        struct Message: Sendable, Hashable {
            let report: PinReport
            let handler: PinReport.Handler
        }
    }

    private let pins: [HostPins]

    init(_ pins: [HostPins]) {
        self.pins = pins
    }

    /// Judges a chain. The pins that are enforced count together. Each that only reports is judged for itself, so that new pins
    /// can be tried beside the old ones.
    ///
    /// - Parameters:
    ///   - chain: The verified chain, the certificate of the server first.
    ///   - host: The host of the request.
    ///   - port: The port of the request.
    ///   - date: Now.
    func verdict(on chain: [Certificate], of host: String, port: Int, at date: Date) -> Verdict {
        func report(_ expected: [ServerPin]) -> PinReport? {
            let isPinned = chain.contains { expected.contains($0.key) || expected.contains($0.whole) }
            return isPinned ? nil : PinReport(host: host, presented: chain.map(\.key), expected: expected)
        }
        var (verdict, enforced, isEnforced) = (Verdict(), [ServerPin](), false)
        for pins in pins where pins.pattern.matches(host, port: port) && pins.expires.map({ date < $0 }) ?? true {
            switch pins.mode {
            case .enforce:
                isEnforced = true
                enforced += pins.pins
            case .reportOnly(let handler):
                if let report = report(pins.pins) {
                    verdict.reports.append(Verdict.Message(report: report, handler: handler))
                }
            }
        }
        if isEnforced { verdict.failure = report(enforced) }
        return verdict
    }
}
