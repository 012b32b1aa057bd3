/// Encodes values as queries and forms of the media type `application/x-www-form-urlencoded`.
///
/// ```swift
/// struct Search: Encodable {
///     var text = "red & blue"
///     var tags = ["a", "b"]
/// }
/// let query = try URLEncodedFormEncoder().encode(Search())  // tags=a&tags=b&text=red%20%26%20blue
/// ```
///
/// The outermost value must have members: it is a structure or a dictionary, for example. A value that cannot be
/// written is never left out silently. It is an `EncodingError` that names the property by its path. These are errors:
///
/// - a number or a date that is not finite
/// - two names that are converted to the same name
/// - a `nil` in an array, if `nils` drops it
/// - an empty array in an array
/// - a value that asks for two kinds of containers
///
/// An array whose elements are arrays or have members is written with numbers: `a[0][b]=1`. Otherwise it would be
/// unclear which member belongs to which element. Names that are ``Arrays/custom(_:)`` are an exception. A property
/// writes nothing if it holds an empty array or a value without members.
///
/// ``URLEncodedFormDecoder`` with the same options restores the value, except for line breaks that were normalized.
public struct URLEncodedFormEncoder: Sendable {
    /// How the elements of arrays are named. ``Arrays/none`` by default.
    public var arrays = Arrays.none
    /// How the members of nested values are named. ``Nesting/brackets`` by default.
    public var nesting = Nesting.brackets
    /// How truth values are written. ``Booleans/numeric`` by default.
    public var booleans = Booleans.numeric
    /// How dates are written. ``Dates/deferred`` by default.
    public var dates = Dates.deferred
    /// How data is written. ``DataValues/base64`` by default.
    public var data = DataValues.base64
    /// How `nil` is written. ``Nils/dropped`` by default.
    public var nils = Nils.dropped
    /// How a space is written. ``Spaces/percent`` by default.
    public var spaces = Spaces.percent
    /// Which characters stand for themselves. ``Characters/rfc3986`` by default.
    public var characters = Characters.rfc3986
    /// How line breaks in names and values are written. ``LineBreaks/asGiven`` by default.
    public var lineBreaks = LineBreaks.asGiven
    /// Whether the members of each value are sorted by name. `true` by default.
    ///
    /// With `false`, they stay in the order in which they are encoded. The elements of an array always keep their
    /// order.
    public var sortsKeys = true
    /// How the names of properties are converted. Not at all by default.
    public var naming = ParameterNaming.asDeclared
    /// Changes values before they are encoded. `nil` by default: no change.
    public var transform: ParameterTransform?
    /// Whether a name may hold characters that mark nesting, such as `filter[name]`. `false` by default.
    ///
    /// With `false` such a name is an error, because a decoder would read it as nested members.
    public var acceptsStructuredNames = false

    /// Makes an encoder with the defaults given at each property.
    public init() {}

    /// An encoder that writes forms like browsers: ``Characters/whatwg``, ``Spaces/plus`` and
    /// ``LineBreaks/normalized``.
    public static var whatwg: URLEncodedFormEncoder {
        var encoder = URLEncodedFormEncoder()
        encoder.characters = .whatwg
        encoder.spaces = .plus
        encoder.lineBreaks = .normalized
        return encoder
    }

    /// The media type of what is encoded.
    public static let contentType = "application/x-www-form-urlencoded"

    /// Encodes a value as text in ASCII.
    ///
    /// - Throws: An `EncodingError` that names the property, or an error that the value itself or the ``transform``
    ///   throws.
    public func encode(_ value: some Encodable) throws -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Encodes a value as the bytes of a body.
    ///
    /// - Throws: The same errors as ``encode(_:)``.
    public func encodeData(_ value: some Encodable) throws -> Data {
        Data(try bytes(of: value))
    }

    private func bytes(of value: some Encodable) throws -> [UInt8] {
        let tree = try ParameterTreeEncoder.tree(of: value, naming: naming, transform: transform)
        guard case .record(let record) = tree else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "A form has names; the outermost value has no members."))
        }
        return try bytes(of: record)
    }

    func bytes(of record: ParameterRecord) throws -> [UInt8] {
        var writer = FormWriter(self)
        try writer.write(record)
        return writer.output
    }

    /// The names of a record's values, not escaped, and the values, which have no members. Dropped values are not
    /// included.
    func pairs(of record: ParameterRecord) throws -> [(name: String, value: ParameterNode)] {
        var writer = FormWriter(self, listsPairs: true)
        try writer.write(record)
        return writer.pairs
    }

    /// The text of a value without members.
    ///
    /// - Parameter path: The names that lead to the value. An error uses them.
    func text(of node: ParameterNode, path: @autoclosure () -> [any CodingKey]) throws -> String {
        switch node {
        case .absent, .null: return nils.text
        case .boolean(let value): return booleans.text(value)
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .float(let value) where value.isFinite: return value.description
        case .double(let value) where value.isFinite: return value.description
        case .decimal(let value) where value.isFinite: return value.description
        case .float(let value): throw Self.invalid(value, path(), "is a number that is not finite")
        case .double(let value): throw Self.invalid(value, path(), "is a number that is not finite")
        case .decimal(let value): throw Self.invalid(value, path(), "is a number that is not finite")
        case .text(let value): return value
        case .date(let value):
            guard let text = try dates.text(value) else {
                // The error must not hold the date itself, because Foundation traps when it prints such a date.
                throw Self.invalid(
                    value.timeIntervalSinceReferenceDate, path(), "is a date that cannot be written")
            }
            return text
        case .data(let value): return try data.text(value)
        case .list, .record: throw Self.invalid("", path(), "has members, and here is a place for one value")
        }
    }

    /// The error for a value that cannot be written, in a sentence that names it.
    static func invalid(_ value: Any, _ path: [any CodingKey], _ reason: String) -> EncodingError {
        let name = path.map(\.stringValue).joined(separator: ".")
        return .invalidValue(value, .init(codingPath: path, debugDescription: "'\(name)' \(reason)."))
    }
}

extension URLEncodedFormEncoder {
    /// How the elements of an array are named.
    public enum Arrays: Sendable {
        /// `a=1&a=2`: the name is repeated for each element.
        case none
        /// `a[0]=1&a[1]=2`.
        case indices
        /// `a[]=1&a[]=2`.
        case brackets
        /// The name that a closure makes for an element, from the name of the array and the element's number (from 0).
        case custom(@Sendable (_ name: String, _ index: Int) -> String)
    }

    /// How the members of nested values are named.
    public enum Nesting: Sendable {
        /// `a[b]=1`.
        case brackets
        /// `a.b=1`.
        case dots
        /// The name that a closure makes from the outer name and the member's name.
        case custom(@Sendable (_ outer: String, _ name: String) -> String)
    }

    /// How `true` and `false` are written.
    public enum Booleans: Sendable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How dates are written.
    public enum Dates: Sendable {
        /// As `Date` encodes itself: seconds since the beginning of 2001.
        case deferred
        /// Seconds since the beginning of 1970, with their fraction. `Date` counts from 2001, so a decoded date may
        /// differ by less than a microsecond.
        case secondsSince1970
        /// Milliseconds since the beginning of 1970, with their fraction. They are as exact as ``secondsSince1970``.
        case millisecondsSince1970
        /// `2026-03-01T12:00:00Z`, without fractions of a second (RFC 3339). A date before year 0 or after year 9999 is
        /// an error.
        case iso8601
        /// The text that a closure makes.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How data is written.
    public enum DataValues: Sendable {
        /// As Base64 (RFC 4648, section 4).
        case base64
        /// The text that a closure makes.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How properties and values that are `nil` are written.
    public enum Nils: Sendable {
        /// They are not written. A `nil` in an array is an error, because the elements after it would move up.
        case dropped
        /// `a=`.
        case empty
        /// `a=null`.
        case null
    }

    /// How a space is written.
    public enum Spaces: Sendable {
        /// `%20`.
        case percent
        /// `+`.
        case plus
    }

    /// How line breaks in names and values are written.
    public enum LineBreaks: Sendable {
        /// As they are.
        case asGiven
        /// Each CR, LF and CRLF becomes CRLF, as in forms from browsers (WHATWG HTML, "convert to a list of name-value
        /// pairs").
        case normalized
    }

    /// Which characters stand for themselves. All others are percent-encoded in UTF-8, including the space unless it is
    /// written as `+`.
    public enum Characters: Sendable {
        /// Letters, digits and `-._~` (RFC 3986, section 2.3), and also `?` and `/`, which a query may hold (section
        /// 3.4).
        case rfc3986
        /// Letters, digits and `*-._`, as in forms from browsers (WHATWG URL, section 5.2).
        case whatwg
    }
}

extension URLEncodedFormEncoder.Booleans {
    fileprivate func text(_ value: Bool) -> String {
        switch self {
        case .numeric: value ? "1" : "0"
        case .literal: value ? "true" : "false"
        }
    }
}

extension URLEncodedFormEncoder.Dates {
    /// The text of a date. `nil` if the date is not finite, or if RFC 3339 cannot write its year (section 1: four
    /// digits).
    fileprivate func text(_ date: Date) throws -> String? {
        switch self {
        case .custom(let make): return try make(date)
        case _ where !date.timeIntervalSinceReferenceDate.isFinite: return nil
        case .deferred: return date.timeIntervalSinceReferenceDate.description
        case .secondsSince1970: return date.timeIntervalSince1970.description
        case .millisecondsSince1970:
            let milliseconds = date.timeIntervalSince1970 * 1000
            return milliseconds.isFinite ? milliseconds.description : nil
        case .iso8601:
            return Self.yearsOfFourDigits.contains(date.timeIntervalSince1970) ? date.formatted(.iso8601) : nil
        }
    }

    /// From the beginning of year 0 to the end of year 9999, in seconds since 1970.
    private static let yearsOfFourDigits = -62_167_219_200.0..<253_402_300_800.0
}

extension URLEncodedFormEncoder.DataValues {
    fileprivate func text(_ data: Data) throws -> String {
        switch self {
        case .base64: data.base64EncodedString()
        case .custom(let make): try make(data)
        }
    }
}

extension URLEncodedFormEncoder.Nils {
    fileprivate var text: String {
        switch self {
        case .dropped, .empty: ""
        case .null: "null"
        }
    }

    var areDropped: Bool {
        if case .dropped = self { true } else { false }
    }
}
