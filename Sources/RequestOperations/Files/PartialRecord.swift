/// What a partial file is a part of. It is kept in memory, and in the side file if another process may go on.
struct PartialRecord: Sendable, Hashable, Codable {
    /// A digest of the URL or key, because a URL may hold secrets.
    let identity: String
    /// The scheme, host, port and path, for people who look at the file.
    let location: String
    /// The validator of the response; `nil` if its bytes cannot be used again.
    let validator: StrongValidator?
    /// The length of the whole file, if it is known.
    var total: Int64?
    /// The name that the response suggested. A later response to a range request need not suggest it again.
    let name: String?
    /// Where the parts begin that lie in files of their own; `nil` if there are none.
    var segments: [Int64]?

    /// The identity of a URL or key.
    static func identity(of subject: String) -> String { SHA2.digest(of: subject).hexadecimal }

    /// Reads a side file; `nil` if there is none or it cannot be read. The download then begins again.
    init?(at place: PartialPlace) {
        guard let data = SideFile.content(of: place.record),
            let record = try? JSONDecoder().decode(PartialRecord.self, from: data)
        else { return nil }
        self = record
    }

    init(identity: String, location: String, validator: StrongValidator?, total: Int64?, name: String?) {
        self.identity = identity
        self.location = location
        self.validator = validator
        self.total = total
        self.name = name
    }

    /// Writes the side file in one step.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(to place: PartialPlace) throws {
        try SideFile.write(try SideFile.encoded(self, of: "download"), to: place.record, of: "download")
    }

    /// The request for what a partial file of some size lacks; `nil` if it must begin again.
    func rangeRequest(from size: Int64, of identity: String) -> RangeRequest? {
        guard let validator, identity == self.identity, size > 0, size <= total ?? .max else { return nil }
        return RangeRequest(offset: size, validator: validator, total: total)
    }
}
