import Foundation
import RequestOperationsTesting
import Testing

@testable import urlrequest

/// No line traps the reader of the tool's input. 1,000,000 lines with `REQUEST_OPERATIONS_STRESS=full`, else 5,000.
@Suite(.timeLimit(.minutes(30))) struct FuzzedLineTests {
    @Test func `No line harms the reader of JSON lines`() {
        let seeds = [
            #"{"url":"https://a.example/x","method":"POST","headers":{"A":"b","C":["d","e"]},"body":{"x":[1,2.5e3,null]}}"#,
            #"{"url":"http://a/\u00e9","body":"text","lane":"l","key":"k","notBefore":1,"expires":2}"#,
        ]
        var mutator = Mutator(seeds.map { Array($0.utf8) }, seed: 1)
        let isFull = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full"
        for _ in 0..<(isFull ? 1_000_000 : 5000) {
            let input = mutator.next()
            _ = try? JSONLine(input[...], isForQueue: true)
        }
    }
}
