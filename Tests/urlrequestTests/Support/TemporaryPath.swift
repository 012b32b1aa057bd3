import RequestOperations

/// A path that nothing stands at, whatever stands there in the end is removed.
final class TemporaryPath: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("urlrequest-\(UUID())").path

    /// Makes the path, and a file there if it is given a content.
    init(content: String? = nil) throws {
        try content.map { try Data($0.utf8).write(to: URL(fileURLWithPath: path)) }
    }

    deinit {
        // There is nothing to remove where a test made nothing.
        try? FileManager.default.removeItem(atPath: path)
    }
}
