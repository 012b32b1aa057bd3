extension ResponseDecoder where Value: Decodable {
    /// A value from a form, `application/x-www-form-urlencoded`. An empty body is a form without names.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: Decodes each response. A ``URLEncodedFormDecoder`` with its defaults if not given.
    public static func form(
        _ type: Value.Type = Value.self, decoder: URLEncodedFormDecoder = URLEncodedFormDecoder()
    ) -> ResponseDecoder {
        ResponseDecoder { try decoder.decode(type, from: $0.bodyInMemory) }
    }

    /// A value from a body whose media type the response declares.
    ///
    /// The types are JSON, including `+json` types, property lists (`application/x-plist`) and forms. A response with
    /// another type, or none, fails as ``RequestError/Code/unacceptableContentType``. An empty body without a type goes
    /// to the JSON decoder.
    ///
    /// - Parameter type: The type of the value.
    public static func byContentType(_ type: Value.Type = Value.self) -> ResponseDecoder {
        byContentType([
            "application/json": .json(), "text/json": .json(), "application/*+json": .json(),
            "application/x-plist": .propertyList(), URLEncodedFormEncoder.contentType: .form(),
        ])
    }
}

extension ResponseDecoder {
    /// The value of the decoder that matches the media type of the response.
    ///
    /// An empty response need not declare a type. If it has none, `otherwise` decodes it if given. If not, the decoder
    /// with the most precise range decodes it. Among equally precise ranges, the first in alphabetical order counts.
    ///
    /// - Parameters:
    ///   - decoders: Decoders by media ranges: `application/json`, `text/*`, `*/*`, or `application/*+json` for every
    ///     type with that suffix. A range that names the type exactly is tried first, then one with a suffix, then one
    ///     for all subtypes. `*/*` is last. A range that cannot be read is a programmer's error.
    ///   - otherwise: The decoder for all other responses. If not given, they fail as
    ///     ``RequestError/Code/unacceptableContentType``.
    public static func byContentType(
        _ decoders: [String: ResponseDecoder], otherwise: ResponseDecoder? = nil
    ) -> ResponseDecoder {
        let choices = decoders.map { range, decoder in (MediaChoice(range), decoder) }
            .sorted { ($0.0.rank, $0.0.range) < ($1.0.rank, $1.0.range) }
        return ResponseDecoder { response in
            let type = response.head.mediaType
            if let type, let choice = choices.first(where: { $0.0.includes(type) }) {
                return try await choice.1.decode(response)
            }
            if let otherwise { return try await otherwise.decode(response) }
            if type == nil, response.bodySize == 0, let first = choices.first {
                return try await first.1.decode(response)
            }
            throw RequestError(
                .unacceptableContentType, stage: .decode, head: response.head,
                reason: "there are decoders only for \(decoders.keys.sorted().joined(separator: ", "))")
        }
    }
}

/// A media range that has a decoder.
private struct MediaChoice: Sendable {
    let range: String
    private let type: MediaType
    /// The end of a subtype, such as `+json`, if the range covers a suffix.
    private let suffix: String?

    init(_ range: String) {
        guard let type = MediaType(range) else { preconditionFailure("'\(range)' is not a media range.") }
        self.range = range
        self.type = type
        suffix = type.subtype.hasPrefix("*+") ? String(type.subtype.dropFirst()) : nil
    }

    /// Lower values are more precise.
    var rank: Int {
        if suffix != nil { return 1 }
        if type.type == "*" { return 3 }
        return type.subtype == "*" ? 2 : 0
    }

    func includes(_ other: MediaType) -> Bool {
        guard let suffix else { return type.includes(other) }
        return type.type == other.type && other.subtype.hasSuffix(suffix)
    }
}
