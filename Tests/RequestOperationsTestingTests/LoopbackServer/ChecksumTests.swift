import Foundation
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChecksumTests {
    /// The expected values were computed from the documented definition by a program in another language.
    @Test(arguments: [
        (0, 0xAF63_BD4C_8601_B7DF as UInt64), (1, 0x0832_8707_B4EB_6E3A), (8, 0x1F69_8107_66B6_3955),
        (13, 0x3921_0457_FF05_E188), (1000, 0xB139_2EA2_4E08_5CCC),
    ])
    func `The checksum is what its definition says`(_ count: Int, _ expected: UInt64) {
        #expect(LoopbackServer.Checksum(pattern(count)).value == expected)
    }

    @Test func `How the bytes are cut does not matter`() {
        let bytes = [UInt8](pattern(1000))
        for size in [1, 3, 7, 8, 9, 64, 999] {
            var checksum = LoopbackServer.Checksum()
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { checksum.update($0) }
            }
            #expect(checksum == LoopbackServer.Checksum(Data(bytes)))
        }
    }
}
