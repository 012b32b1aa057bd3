import Testing

@testable import RequestOperations

@Suite struct PinCheckTests {
    private func pin(_ byte: UInt8, _ kind: ServerPin.Kind = .key) -> ServerPin {
        ServerPin(kind, Data(repeating: byte, count: 32))
    }

    /// A chain whose keys have these bytes, and whose certificates have these and 100.
    private func chain(_ bytes: UInt8...) -> [PinCheck.Certificate] {
        bytes.map { PinCheck.Certificate(key: pin($0), whole: pin($0 + 100, .certificate)) }
    }

    private func verdict(_ pins: [HostPins], _ chain: [PinCheck.Certificate], host: String = "a.example")
        -> PinCheck.Verdict
    {
        PinCheck(pins).verdict(on: chain, of: host, port: 443, at: Date(timeIntervalSince1970: 1000))
    }

    @Test func `A host without pins passes`() {
        #expect(verdict([.host("b.example", keys: [pin(1)])], chain(2)) == .passes)
        #expect(verdict([], chain(2)) == .passes)
    }

    @Test func `A key or a certificate anywhere in the chain passes`() {
        #expect(verdict([.host("a.example", keys: [pin(9), pin(2)])], chain(1, 2, 3)) == .passes)
        #expect(verdict([.host("a.example", keys: [pin(103, .certificate)])], chain(1, 2, 3)) == .passes)
        // The digest of a certificate is none of a key.
        guard case .fails = verdict([.host("a.example", keys: [pin(103)])], chain(1, 2, 3)) else {
            Issue.record("It passed.")
            return
        }
    }

    @Test func `The pins of all patterns that fit count together`() {
        let pins: [HostPins] = [.host("*.example", keys: [pin(1)]), .host("a.example", keys: [pin(2)])]
        #expect(verdict(pins, chain(1)) == .passes && verdict(pins, chain(2)) == .passes)
        let report = PinReport(host: "a.example", presented: [pin(3)], expected: [pin(1), pin(2)])
        #expect(verdict(pins, chain(3)) == .fails(report))
    }

    @Test func `No pins and no chain trust nobody`() {
        #expect(verdict([.host("a.example", keys: [])], chain(1)) != .passes)
        #expect(verdict([.host("a.example", keys: [pin(1)])], []) != .passes)
    }

    @Test func `Pins end at their date`() {
        let (before, after) = (Date(timeIntervalSince1970: 999), Date(timeIntervalSince1970: 1001))
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: before)], chain(2)) == .passes)
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: after)], chain(2)) != .passes)
    }

    @Test func `What one pattern enforces is not only reported`() {
        let reports = HostPins.host("*.example", keys: [pin(1)], .reportOnly { _ in })
        guard case .passesUnpinned(_, let handlers) = verdict([reports], chain(3)) else {
            Issue.record("It is not reported.")
            return
        }
        #expect(handlers.count == 1)
        guard case .fails = verdict([reports, .host("a.example", keys: [pin(2)])], chain(3)) else {
            Issue.record("It passed.")
            return
        }
    }
}
