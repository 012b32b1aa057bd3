import Foundation

/// Where this package lies, and where the modules of the build lie that these tests belong to.
enum Package {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The README and every article.
    static func pages() throws -> [Page] {
        let files = FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        let articles = (files?.allObjects as? [URL] ?? []).map(\.path)
            .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
            .map { String($0.dropFirst(root.path.count + 1)) }
        return try (["README.md"] + articles.sorted()).map(Page.init)
    }

    /// The folder of the build's products: the nearest one above the executable or a bundle of these tests that has the
    /// module under test.
    static func products() throws -> URL {
        for image in [Bundle.main.executableURL].compactMap({ $0 }) + Bundle.allBundles.map(\.bundleURL) {
            var folder = image.standardizedFileURL
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let module = folder.appending(path: "Modules/RequestOperations.swiftmodule")
                if FileManager.default.fileExists(atPath: module.path) { return folder }
            }
        }
        throw NoModules()
    }

    private struct NoModules: Error {}
}
