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
