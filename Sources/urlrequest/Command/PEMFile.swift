import RequestOperations

/// Reads files of certificates and keys.
enum PEMFile {
    /// The content of a file that has a PEM block (RFC 7468) of a given kind.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - label: The end of the block's label, such as `PRIVATE KEY`.
    /// - Throws: ``UnusableInput``.
    static func read(_ path: String, with label: String) throws -> Data {
        guard access(path, R_OK) == 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UnusableInput("\(path): it is no file that can be read")
        }
        guard data.range(of: Data("\(label)-----".utf8)) != nil else {
            throw UnusableInput("\(path): it has no \(label) in PEM")
        }
        return data
    }
}
