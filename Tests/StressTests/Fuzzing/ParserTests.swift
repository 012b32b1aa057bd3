import Foundation
import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// No input traps a parser, hangs it, or has it use memory without a bound. 1,000,000 inputs each in a full run, 5,000 in the
/// suite. A trap ends the process, so the seed below finds the input again.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ParserTests {
    /// How long one input may take. It takes microseconds, and a machine may be busy.
    private static let limit = Duration.seconds(10)

    private func fuzz(_ parser: FuzzedParser) {
        let seed = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_SEED"].flatMap { UInt64($0) } ?? 1
        var mutator = Mutator(parser.seeds, seed: seed)
        let before = ResidentMemory.peak() ?? 0
        for _ in 0..<Stress.rounds(1_000_000, shortened: 5000) {
            let input = mutator.next()
            let start = ContinuousClock.now
            autoreleasing { try? parser.parse(input) }
            let time = ContinuousClock.now - start
            #expect(time < Self.limit, "\(parser.name): \(Data(input).base64EncodedString())")
        }
        guard Stress.isFull, !Stress.isSanitized, let peak = ResidentMemory.peak() else { return }
        #expect(peak - before < 200_000_000, "\(parser.name)")
    }

    @Test(arguments: FuzzedParser.all) func `No input harms a parser`(_ parser: FuzzedParser) {
        fuzz(parser)
    }

    #if os(Linux)
        @Test(arguments: [FuzzedParser.route, .head, .gzip]) func `No input harms a parser of the transport`(
            _ parser: FuzzedParser
        ) {
            fuzz(parser)
        }
    #endif
}

/// Foundation on Apple's platforms keeps what it makes until a pool is drained.
private func autoreleasing(_ body: () -> Void) {
    #if canImport(ObjectiveC)
        autoreleasepool(invoking: body)
    #else
        body()
    #endif
}
