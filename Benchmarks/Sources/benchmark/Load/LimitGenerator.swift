import CLimit
import Foundation

/// The C program.
final class LimitGenerator: LoadGenerator {
    private let session: OpaquePointer
    // The strings of the order have to live as long as the session.
    private let strings: [UnsafeMutablePointer<CChar>]
    private let fields: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    init(_ order: LoadOrder) throws {
        let url = strdup(order.url)
        let authority = order.authority.flatMap { strdup($0) }
        var limit = climit_order()
        limit.url = UnsafePointer(url)
        limit.in_flight = Int32(order.inFlight)
        limit.expected_length = order.body.length
        limit.expected_hash = order.body.hash
        limit.authority = UnsafePointer(authority)
        limit.http2 = order.usesHTTP2
        let lines = LoadOrder.fields.map { strdup("\($0): \($1)") }
        fields = .allocate(capacity: lines.count)
        _ = fields.initialize(from: lines.map { UnsafePointer($0) })
        limit.fields = UnsafePointer(fields.baseAddress)
        limit.field_count = fields.count
        strings = ([url, authority] + lines).compactMap { $0 }
        guard let session = climit_open(&limit) else { throw BenchmarkError("libcurl gives no handle") }
        self.session = session
    }

    deinit {
        climit_close(session)
        for string in strings { free(string) }
        fields.deallocate()
    }

    func run(_ amount: LoadAmount, of order: LoadOrder) throws -> LoadResult {
        var latencies = [UInt64](repeating: 0, count: order.inFlight == 1 ? 200_000 : 0)
        let (seconds, count) =
            switch amount {
            case .seconds(let seconds): (seconds, 0)
            case .requests(let count): (0, count)
            }
        let capacity = latencies.count
        var result = latencies.withUnsafeMutableBufferPointer { buffer in
            climit_run(session, seconds, count, capacity > 0 ? buffer.baseAddress : nil, capacity)
        }
        guard result.failures == 0 else {
            let first = withUnsafeBytes(of: &result.failure) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw BenchmarkError("\(result.failures) of \(result.requests) requests failed: \(first)")
        }
        return LoadResult(
            requests: result.requests, latencies: latencies.prefix(result.requests).map { Double($0) / 1e9 })
    }
}
