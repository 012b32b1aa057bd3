import CLimit
import Foundation
import RequestOperations

/// Many GETs by one client, for a time.
struct LoadOrder: Codable, Sendable {
    /// Who makes them.
    var client: ClientKind
    /// The URL, to which each request appends its number, so that it has one of its own.
    var url: String
    /// What every response is.
    var body: BodyExpectation
    /// How many requests are under way at a time.
    var inFlight: Int
    /// When the last request begins.
    var amount: LoadAmount
    /// The PEM file of the certificate that is trusted; `nil` without TLS.
    var authority: String?
    /// Whether the server is spoken to by HTTP/2.
    var usesHTTP2 = false
    /// Whether the value of each request is decoded from JSON.
    var decodesJSON = false

    /// The fields that `URLRequestOperation` sends unasked beside `Host` and `Accept`. A client that has none of its own is told
    /// to send them: the server is to read the same request whoever makes it.
    static let fields = [
        ("User-Agent", CurlTransport.Configuration().userAgent), ("Accept-Encoding", "gzip,deflate,br,zstd"),
    ]

    /// Makes the client, lets it come to rest after its first requests, and measures it.
    func carryOut() throws -> Sample {
        let generator = try client.makeGenerator(self)
        try prepare(generator)
        let rest = ProcessStatus.residentAfterTrim
        try ProcessStatus.resetPeak()
        let before = Usage()
        let result = try generator.run(amount, of: self)
        let after = Usage()
        let count = Double(result.requests)
        var sample = Sample()
        sample.values[.rate] = count / after.seconds(since: before)
        sample.values[.cpu] = after.cpuSeconds(since: before) / count * 1e6
        sample.values[.peak] = ProcessStatus.peak / 1e6
        sample.values[.growth] = (ProcessStatus.peak - rest) / 1e6
        sample.values[.latency] = result.medianLatency.map { $0 * 1e6 }
        sample.remarks = try generator.evidence()
        return sample
    }

    /// Requests enough that connections, pools and caches are as they stay.
    func prepare(_ generator: any LoadGenerator) throws {
        try generator.prepare()
        _ = try generator.run(.requests(2 * inFlight), of: self)
    }
}

/// How much of it.
enum LoadAmount: Codable, Sendable {
    /// Requests begin for so many seconds.
    case seconds(Double)
    /// So many requests.
    case requests(Int)
}

/// What a body has to be. The hash is that of the C program, the same for all clients.
struct BodyExpectation: Codable, Sendable {
    let length: Int
    let hash: UInt64

    /// The expectation of exactly these bytes.
    init(_ body: Data) {
        length = body.count
        hash = body.withUnsafeBytes { climit_hash($0.baseAddress, $0.count) }
    }

    /// Whether these bytes are that body.
    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == length && climit_hash(bytes.baseAddress, bytes.count) == hash
    }
}

/// What came of a load.
struct LoadResult: Sendable {
    /// The requests that ended as expected.
    var requests: Int
    /// The seconds of each request, if it was asked for.
    var latencies: [Double] = []

    /// The median of the latencies; `nil` if there are none.
    var medianLatency: Double? { Spread(latencies)?.median }
}

/// A client with the load that it makes.
protocol LoadGenerator {
    /// Makes what the client needs once, and the requests that show how it is built.
    func prepare() throws
    /// Makes an amount of requests, and returns when the last has ended. Called on the main thread.
    ///
    /// - Throws: A ``BenchmarkError`` if a response was not the expected one.
    func run(_ amount: LoadAmount, of order: LoadOrder) throws -> LoadResult
    /// What shows that the work was done as it should be, after all requests.
    func evidence() throws -> [String]
}

extension LoadGenerator {
    func prepare() {}

    func evidence() -> [String] { [] }
}
