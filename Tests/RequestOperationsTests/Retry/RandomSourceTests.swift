import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RandomSourceTests {
    private struct Constant: RandomNumberGenerator, Sendable {
        let value: UInt64
        func next() -> UInt64 { value }
    }

    @Test func `The largest bits stay below one`() {
        #expect(RandomSource(Constant(value: .max)).next() == 1.0.nextDown)
    }

    @Test func `The smallest bits are zero`() {
        #expect(RandomSource(Constant(value: 0)).next() == 0)
    }

    @Test func `A seeded source follows the published split mix`() {
        // The first outputs of the reference implementation (Vigna, splitmix64.c) for the seed 1234567.
        let expected: [UInt64] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        let random = RandomSource(seed: 1_234_567)
        #expect(expected.map { _ in random.next() } == expected.map { Double($0 >> 11) * 0x1p-53 })
    }

    @Test func `Many tasks share one series without losing a number`() async {
        let shared = RandomSource(seed: 5)
        let drawn = await withTaskGroup(of: [Double].self) { group in
            for _ in 0..<8 { group.addTask { (0..<500).map { _ in shared.next() } } }
            return await group.reduce(into: Set<Double>()) { $0.formUnion($1) }
        }
        let alone = RandomSource(seed: 5)
        #expect(drawn == Set((0..<4000).map { _ in alone.next() }))
    }
}
