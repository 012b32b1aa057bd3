/// Addresses with the same first bits.
struct AddressRange: Sendable, Hashable {
    private let first: IPAddress
    private let length: Int

    /// Reads `10.0.0.0/8`, or one address.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(String(parts[0])) else { return nil }
        let bits = first.bytes.count * 8
        guard parts.count == 2 else {
            (self.first, length) = (first, bits)
            return
        }
        guard parts[1].allSatisfy(\.isASCII), let length = Int(parts[1]), (0...bits).contains(length) else {
            return nil
        }
        (self.first, self.length) = (first, length)
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let (whole, rest) = length.quotientAndRemainder(dividingBy: 8)
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}
