/// What a tus server can do, as it says itself (tus 1.0, "OPTIONS").
struct TusServer: Sendable, Hashable {
    /// The version of the protocol that is spoken.
    static let version = "1.0.0"

    /// The names of the extensions.
    var extensions: Set<String>
    /// The functions of the `checksum` extension.
    var checksumAlgorithms: Set<String> = []
    /// The most bytes of an upload; `nil` if there is no limit, or none that the server names.
    var maximumSize: Int64?

    /// A server that says nothing. An upload needs no more than creation.
    static let silent = TusServer(extensions: ["creation"])

    /// Whether the server checks SHA-256 digests.
    var verifies: Bool { extensions.contains("checksum") && checksumAlgorithms.contains("sha256") }

    /// Whether the first bytes may go with the creation.
    var createsWithUpload: Bool { extensions.contains("creation-with-upload") }

    init(extensions: Set<String>, checksumAlgorithms: Set<String> = [], maximumSize: Int64? = nil) {
        self.extensions = extensions
        self.checksumAlgorithms = checksumAlgorithms
        self.maximumSize = maximumSize
    }

    /// Reads the head of the response to an OPTIONS request.
    ///
    /// - Throws: A `RequestError` with the code `unsupported` if the server speaks other versions only, or creates no
    ///   uploads.
    init(_ head: ResponseHead) throws {
        let versions = head.elements(of: "Tus-Version")
        guard versions.isEmpty || versions.contains(Self.version) else { throw Self.speaksNoVersion(head) }
        maximumSize = head.number(in: "Tus-Max-Size")
        checksumAlgorithms = head.elements(of: "Tus-Checksum-Algorithm")
        extensions = head.elements(of: "Tus-Extension")
        guard !extensions.isEmpty else {
            // It may be a server in front that answers, which knows nothing of tus.
            extensions = Self.silent.extensions
            return
        }
        guard extensions.contains("creation") || extensions.contains("creation-with-upload") else {
            throw RequestError(
                .unsupported, stage: .transfer, head: head, reason: "the tus server does not create uploads")
        }
    }

    static func speaksNoVersion(_ head: ResponseHead) -> RequestError {
        RequestError(.unsupported, stage: .transfer, head: head, reason: "the server does not speak tus \(version)")
    }

    /// Fails if an upload is larger than the server takes.
    ///
    /// - Throws: A `RequestError` with the code `bodyTooLarge`.
    func check(size: Int64, _ head: ResponseHead) throws {
        guard let maximumSize, size > maximumSize else { return }
        throw Self.takesNoMore(than: maximumSize, size, head)
    }

    static func takesNoMore(than maximum: Int64?, _ size: Int64, _ head: ResponseHead) -> RequestError {
        let limit = maximum.map { "at most \($0) bytes (Tus-Max-Size)" } ?? "less"
        return RequestError(
            .bodyTooLarge, stage: .transfer, head: head,
            reason: "the server takes \(limit), and the upload has \(size)")
    }
}

extension ResponseHead {
    /// The elements of a list in a field, which may come several times.
    fileprivate func elements(of name: String) -> Set<String> {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        let elements = values.joined(separator: ",").split(separator: ",")
        return Set(elements.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty })
    }

    /// The number in a field; `nil` if there is none that can be read.
    func number(in name: String) -> Int64? {
        field(name).flatMap { Int64(digits: $0.trimmingCharacters(in: .whitespaces)) }
    }
}
