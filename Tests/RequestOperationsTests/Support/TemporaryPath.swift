import Foundation

/// A path in the temporary folder where there is nothing; what comes there is removed with this.
final class TemporaryPath: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("tests-\(UUID().uuidString)")

    deinit {
        // There may be nothing.
        try? FileManager.default.removeItem(at: url)
    }

    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    var content: Data {
        get throws { try Data(contentsOf: url) }
    }
}
