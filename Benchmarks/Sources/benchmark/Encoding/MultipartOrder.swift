import Foundation
import RequestOperations

/// What an operation needs to send a large file as a part of a multipart body.
struct MultipartOrder: Codable, Sendable {
    /// The folder that the server serves, with the large file in it.
    var pages: String
    /// The URL of that folder.
    var server: String

    /// Sends a small file, so that the client is at rest afterwards, and then the large one, which is measured.
    func carryOut() throws -> Sample {
        try send("1k")
        let rest = ProcessStatus.residentAfterTrim
        try ProcessStatus.resetPeak()
        let before = Usage()
        let length = try send("large")
        let after = Usage()
        var sample = Sample()
        sample.values[.throughput] = Double(length) / Double(1 << 20) / after.seconds(since: before)
        sample.values[.cpuSeconds] = after.cpuSeconds(since: before)
        sample.values[.peak] = ProcessStatus.peak / 1e6
        sample.values[.growth] = (ProcessStatus.peak - rest) / 1e6
        return sample
    }

    @discardableResult
    private func send(_ page: String) throws -> Int64 {
        let file = URL(fileURLWithPath: pages).appendingPathComponent(page)
        let copy = URL(fileURLWithPath: pages).appendingPathComponent("upload/multipart-" + page)
        defer { try? FileManager.default.removeItem(at: copy) }
        // The catalogue makes no other than good URLs.
        let operation = Upload(path: "upload/multipart-" + page, file: file).operation(relativeTo: URL(string: server)!)
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        try operation.result?.get()
        let sizes = try [file, copy].map {
            try FileManager.default.attributesOfItem(atPath: $0.path)[.size] as? Int64 ?? 0
        }
        guard sizes[1] > sizes[0] else { throw BenchmarkError("the server has \(sizes[1]) bytes of \(sizes[0])") }
        return sizes[0]
    }
}

private struct Upload: Endpoint {
    typealias Response = Void
    let method = HTTPMethod.put
    var path: String
    @Ignored var file: URL
    var bodyEncoder: ParameterEncoder { .multipart }
    var files: [MultipartFormData.Part] { [.file(file, name: "file")] }
}
