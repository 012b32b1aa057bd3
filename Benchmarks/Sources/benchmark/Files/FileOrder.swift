import CLimit
import Foundation

/// One large file by one client.
struct FileOrder: Codable, Sendable {
    /// Whither it goes.
    enum Direction: String, Codable {
        case download
        case upload
    }

    /// Who carries it.
    var client: FileClientKind
    /// Whither.
    var direction: Direction
    /// The folder that the server serves, with the large file in it.
    var pages: String
    /// The URL of that folder.
    var server: String
    /// Where a downloaded file goes.
    var folder: String

    /// Carries a small file, so that the client is at rest afterwards, and then the large one, which is measured and whose
    /// copy is compared with it.
    func carryOut() throws -> Sample {
        let mover = try client.makeMover()
        try move("1k", by: mover)
        let rest = ProcessStatus.residentAfterTrim
        try ProcessStatus.resetPeak()
        let subject: Usage.Subject = client == .curl ? .children : .process
        let before = Usage(subject)
        let ownSeconds = try move("large", by: mover)
        let after = Usage(subject)
        let copy = try compare("large")
        var sample = Sample()
        let seconds = ownSeconds ?? after.seconds(since: before)
        sample.values[.throughput] = Double(copy.length) / Double(1 << 20) / seconds
        sample.values[.cpuSeconds] = after.cpuSeconds(since: before)
        if client == .curl {
            sample.values[.peak] = after.peak
        } else {
            sample.values[.peak] = ProcessStatus.peak / 1e6
            sample.values[.growth] = (ProcessStatus.peak - rest) / 1e6
        }
        try FileManager.default.removeItem(at: copy.url)
        return sample
    }

    @discardableResult
    private func move(_ page: String, by mover: any FileMover) throws -> Double? {
        let copy = self.copy(of: page)
        try? FileManager.default.removeItem(at: copy)  // There is one only after a run that was broken off.
        switch direction {
        case .download: return try mover.download(server + page, to: copy)
        case .upload: return try mover.upload(original(page), to: server + "upload/" + page)
        }
    }

    private func original(_ page: String) -> URL {
        URL(fileURLWithPath: pages).appendingPathComponent(page)
    }

    private func copy(of page: String) -> URL {
        switch direction {
        case .download: URL(fileURLWithPath: folder).appendingPathComponent("downloaded-" + page)
        case .upload: URL(fileURLWithPath: pages).appendingPathComponent("upload/" + page)
        }
    }

    private func compare(_ page: String) throws -> (url: URL, length: Int) {
        let copy = copy(of: page)
        let (expected, received) = (try FileHash(original(page)), try FileHash(copy))
        guard expected == received else {
            throw BenchmarkError("the copy has \(received.length) bytes and another hash")
        }
        return (copy, Int(received.length))
    }
}

/// The hash and the length of a file.
private struct FileHash: Equatable {
    let hash: UInt64
    let length: UInt64

    init(_ file: URL) throws {
        var hash: UInt64 = 0
        var length: UInt64 = 0
        guard climit_hash_file(file.path, &hash, &length) else { throw BenchmarkError("\(file.path) cannot be read") }
        self.hash = hash
        self.length = length
    }
}

/// Who carries files.
enum FileClientKind: String, Codable, CaseIterable, Sendable {
    case limit
    case curl
    case operation
    case operationOverURLSession
    case session
    case asyncHTTPClient

    /// The name in tables and charts.
    var title: String {
        switch self {
        case .limit: ClientKind.limit.title
        case .curl: "curl"
        case .operation: ClientKind.operation.title
        case .operationOverURLSession: ClientKind.operationOverURLSession.title
        case .session: ClientKind.session.title
        case .asyncHTTPClient: ClientKind.asyncHTTPClient.title
        }
    }

    fileprivate func makeMover() throws -> any FileMover {
        switch self {
        case .limit: try LimitMover()
        case .curl: try CurlMover()
        case .operation: OperationMover(.operation)
        case .operationOverURLSession: OperationMover(.operationOverURLSession)
        case .session: SessionMover()
        case .asyncHTTPClient: AsyncHTTPClientMover()
        }
    }
}

/// A client that carries one file at a time. Called on the main thread; both functions return when it is there.
protocol FileMover {
    /// Downloads a page to a file; returns the seconds that it took if it knows better than its caller.
    func download(_ page: String, to file: URL) throws -> Double?
    /// Uploads a file to a page by PUT.
    func upload(_ file: URL, to page: String) throws -> Double?
}
