import Foundation
import RequestOperations

/// A new folder for the downloads of one test.
final class DownloadFolder: Sendable {
    private let path = TemporaryPath()

    init() throws {
        try FileManager.default.createDirectory(at: path.url, withIntermediateDirectories: true)
    }

    var url: URL { path.url }

    /// The place of a file.
    func file(_ name: String = "file") -> URL { url.appendingPathComponent(name) }

    /// The content of a file as text; `nil` if there is none.
    func text(_ name: String = "file") -> String? {
        FileManager.default.contents(atPath: file(name).path).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ text: String, to name: String = "file") throws {
        try Data(text.utf8).write(to: file(name))
    }

    /// The names of all files, hidden ones too.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// The names of the hidden files.
    var hiddenNames: [String] {
        get throws { try names.filter { $0.hasPrefix(".") } }
    }
}

extension RequestConfiguration {
    /// A configuration over a transport, the platform's by default, that retries at once.
    static func downloading(
        over transport: (any Transport)? = nil, retries: Int = 3
    ) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        if let transport { configuration.transport = transport }
        configuration.hosts = HostRegistry()
        configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.zero))
        configuration.retryPolicy.budget = nil
        return configuration
    }

    static func downloading(_ parts: [PartTransport.Part], retries: Int = 3) -> RequestConfiguration {
        downloading(over: PartTransport(parts), retries: retries)
    }
}

/// The code of a failed operation.
func code<Value>(of operation: AsynchronousOperation<Value>) async -> RequestError.Code? {
    (await failure(of: operation) as? RequestError)?.code
}
