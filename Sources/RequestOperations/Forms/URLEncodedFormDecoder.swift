/// Decodes values from queries and forms of the media type `application/x-www-form-urlencoded`.
///
/// It restores what a ``URLEncodedFormEncoder`` with the same options wrote. It understands all spellings of arrays.
///
/// Empty arrays and values without members write nothing. So a missing value decodes as an empty array, or as a value
/// without members, if the type asks for one. For an optional property it decodes as `nil`. For any other type it is an
/// error.
///
/// Some values are not restored:
///
/// - An optional array that was empty decodes as `nil`.
/// - Empty arrays among the values of a dictionary are lost.
/// - An optional text that equals the spelling of `nil` decodes as `nil`: `""` with ``Nils/empty``, `"null"` with
///   ``Nils/null``.
public struct URLEncodedFormDecoder: Sendable {
    /// How the names of nested members are read.
    public enum Nesting: Sendable {
        /// Not at all. The whole name is one name, even if it holds brackets or dots.
        case none
        /// `a[b]=1`.
        case brackets
        /// `a.b=1`, and `a[0].b=1` for arrays.
        case dots
    }

    /// How dates are read; see ``URLEncodedFormEncoder/Dates``.
    public enum Dates: Sendable {
        /// As `Date` decodes itself: seconds since the beginning of 2001.
        case deferred
        /// Seconds since the beginning of 1970.
        case secondsSince1970
        /// Milliseconds since the beginning of 1970.
        case millisecondsSince1970
        /// `2026-03-01T12:00:00Z` (RFC 3339).
        case iso8601
        /// As a closure reads them.
        case custom(@Sendable (String) throws -> Date)
    }

    /// How data is read.
    public enum DataValues: Sendable {
        /// From Base64 (RFC 4648, section 4).
        case base64
        /// As a closure reads it.
        case custom(@Sendable (String) throws -> Data)
    }

    /// How `nil` is written.
    public enum Nils: Sendable {
        /// Not at all.
        case dropped
        /// `a=`.
        case empty
        /// `a=null`.
        case null
    }

    /// How nested names are read. ``Nesting/brackets`` by default.
    public var nesting = Nesting.brackets
    /// How dates are read. ``Dates/deferred`` by default.
    public var dates = Dates.deferred
    /// How data is read. ``DataValues/base64`` by default.
    public var data = DataValues.base64
    /// How `nil` is written. ``Nils/dropped`` by default.
    public var nils = Nils.dropped
    /// How the encoder converted the names of properties. Not at all by default.
    ///
    /// The decoder first looks for the name as `CodingKeys` has it, then for the converted name.
    public var naming = ParameterNaming.asDeclared

    /// Makes a decoder with the defaults given at each property.
    public init() {}

    /// Decodes a value from text.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - form: The form, without a question mark before it.
    /// - Throws: A `DecodingError`, or an error that the value itself throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from form: String) throws -> Value {
        try decode(type, parsing: form.utf8)
    }

    /// Decodes a value from the bytes of a body.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - form: The form.
    /// - Throws: A `DecodingError`, or an error that the value itself throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from form: Data) throws -> Value {
        try decode(type, parsing: form)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, parsing form: some Sequence<UInt8>) throws -> Value {
        let root = try FormNode(parsing: form, nesting: nesting)
        return try Value(from: FormNodeDecoder(node: root, options: self, codingPath: []))
    }
}

/// The values and the members that a form has under one name.
final class FormNode {
    /// The values given under exactly this name, in their order.
    var values: [String] = []
    /// The names of the members, in order of appearance. The empty name of `a[]` is one of them.
    private(set) var names: [String] = []
    private var members: [String: FormNode] = [:]

    /// The maximum depth of nested names. Decoding deeper names would exhaust the stack, and no legitimate form needs
    /// them.
    static let maximumDepth = 128

    var isEmpty: Bool { values.isEmpty && names.isEmpty }

    func member(_ name: String) -> FormNode? {
        members[name]
    }

    func makeMember(_ name: String) -> FormNode {
        if let member = members[name] { return member }
        let member = FormNode()
        members[name] = member
        names.append(name)
        return member
    }

    /// The elements, if this is an array. The values of a repeated name come first, then those of `a[]`, then `a[0]`
    /// and so on by number.
    ///
    /// - Returns: `nil` if the name of a member is not a number.
    var elements: [FormNode]? {
        var numbered: [(number: Int, node: FormNode)] = []
        for name in names where !name.isEmpty {
            guard let number = Int(name), number >= 0, let node = members[name] else { return nil }
            numbered.append((number, node))
        }
        let appended = members[""].map { $0.names.isEmpty ? $0.values.map(FormNode.init) : [$0] } ?? []
        return values.map(FormNode.init) + appended + numbered.sorted { $0.number < $1.number }.map(\.node)
    }

    private init() {}

    private init(_ value: String) {
        values = [value]
    }

    /// Reads a form: pairs separated by `&`, in percent-encoded UTF-8, with `+` for a space (WHATWG URL, section 5.1).
    ///
    /// - Throws: A `DecodingError` if the bytes are not UTF-8, or if names are nested deeper than ``maximumDepth``.
    init(parsing form: some Sequence<UInt8>, nesting: URLEncodedFormDecoder.Nesting) throws {
        for pair in Array(form).split(separator: UInt8(ascii: "&")) {
            let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try Self.text(pair[..<sign])
            let segments = nesting.segments(of: name)
            guard segments.count <= Self.maximumDepth else {
                throw Self.corrupted("A name is nested deeper than \(Self.maximumDepth) levels.")
            }
            var node: FormNode = self
            for segment in segments { node = node.makeMember(segment) }
            node.values.append(try Self.text(pair[sign...].dropFirst()))
        }
    }

    private static func text(_ escaped: ArraySlice<UInt8>) throws -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(escaped.count)
        var place = escaped.startIndex
        while place < escaped.endIndex {
            switch escaped[place] {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if place + 2 < escaped.endIndex, let high = escaped[place + 1].hexadecimalDigit,
                    let low = escaped[place + 2].hexadecimalDigit
                {
                    bytes.append(high << 4 | low)
                    place += 2
                } else {
                    // A `%` that does not begin an escape stands for itself, as in browsers.
                    bytes.append(UInt8(ascii: "%"))
                }
            case let byte: bytes.append(byte)
            }
            place += 1
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw corrupted("A name or a value is not valid UTF-8.")
        }
        return text
    }

    private static func corrupted(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: reason))
    }
}

extension URLEncodedFormDecoder.Nesting {
    /// The parts of a name. A name whose brackets do not match is one part.
    ///
    /// The name is split between bytes, because a bracket plus a combining mark is a different `Character`.
    fileprivate func segments(of name: String) -> [String] {
        switch self {
        case .none: [name]
        case .brackets: Self.bracketed(name.utf8[...]) ?? [name]
        case .dots:
            name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .flatMap { Self.bracketed($0) ?? [String(Substring($0))] }
        }
    }

    /// Splits `a[b][c]` into `a`, `b` and `c`.
    private static func bracketed(_ name: Substring.UTF8View) -> [String]? {
        let (opening, closing) = (UInt8(ascii: "["), UInt8(ascii: "]"))
        guard let first = name.firstIndex(of: opening), name.last == closing else { return nil }
        var parts = [String(Substring(name[..<first]))]
        var rest = name[name.index(after: first)...]
        while let bracket = rest.firstIndex(where: { $0 == opening || $0 == closing }) {
            guard rest[bracket] == closing else { return nil }
            parts.append(String(Substring(rest[..<bracket])))
            rest = rest[rest.index(after: bracket)...]
            guard let next = rest.popFirst() else { return parts }
            guard next == opening else { return nil }
        }
        return nil
    }
}
