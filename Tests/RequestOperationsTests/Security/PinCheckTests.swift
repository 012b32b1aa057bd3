import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct PinCheckTests {
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
        #expect(verdict([.host("b.example", keys: [pin(1)])], chain(2)) == PinCheck.Verdict())
        #expect(verdict([], chain(2)) == PinCheck.Verdict())
    }

    @Test func `A key or a certificate anywhere in the chain passes`() {
        #expect(verdict([.host("a.example", keys: [pin(9), pin(2)])], chain(1, 2, 3)).failure == nil)
        #expect(verdict([.host("a.example", keys: [pin(103, .certificate)])], chain(1, 2, 3)).failure == nil)
        // The digest of a certificate is none of a key.
        #expect(verdict([.host("a.example", keys: [pin(103)])], chain(1, 2, 3)).failure != nil)
    }

    @Test func `The pins of all patterns that are enforced count together`() {
        let pins: [HostPins] = [.host("*.example", keys: [pin(1)]), .host("a.example", keys: [pin(2)])]
        #expect(verdict(pins, chain(1)).failure == nil && verdict(pins, chain(2)).failure == nil)
        let report = PinReport(host: "a.example", presented: [pin(3)], expected: [pin(1), pin(2)])
        #expect(verdict(pins, chain(3)) == PinCheck.Verdict(failure: report))
    }

    @Test func `No pins and no chain trust nobody`() {
        #expect(verdict([.host("a.example", keys: [])], chain(1)).failure != nil)
        #expect(verdict([.host("a.example", keys: [pin(1)])], []).failure != nil)
    }

    @Test func `Pins end at their date`() {
        let (before, after) = (Date(timeIntervalSince1970: 999), Date(timeIntervalSince1970: 1001))
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: before)], chain(2)).failure == nil)
        #expect(verdict([.host("a.example", keys: [pin(1)], expires: after)], chain(2)).failure != nil)
    }

    @Test func `Pins on trial change nothing of those that are enforced, and are told apart`() {
        let trial = HostPins.host("**.example", keys: [pin(1)], .reportOnly { _ in })
        let old = HostPins.host("a.example", keys: [pin(2)])
        // The new pin alone does not open the door.
        #expect(verdict([trial, old], chain(1)).failure != nil && verdict([trial, old], chain(1)).reports.isEmpty)
        // The old pin does, and the trial is told.
        let verdict = verdict([trial, old], chain(2))
        #expect(verdict.failure == nil && verdict.reports.map(\.report.expected) == [[pin(1)]])
        #expect(self.verdict([trial], chain(3)).failure == nil && self.verdict([trial], chain(3)).reports.count == 1)
    }
}
