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
/// unclear which member belongs to which element. Names from ``FormOptions/Arrays/custom(_:)`` are an exception. A
/// property writes nothing if it holds an empty array or a value without members.
///
/// ``URLEncodedFormDecoder`` with the same options restores the value, except for line breaks that were normalized.
public struct URLEncodedFormEncoder: Sendable {
    /// How the elements of arrays are named. ``FormOptions/Arrays/none`` by default.
    public var arrays = FormOptions.Arrays.none
    /// How the members of nested values are named. ``FormOptions/Nesting/brackets`` by default.
    public var nesting = FormOptions.Nesting.brackets
    /// How truth values are written. ``FormOptions/Booleans/numeric`` by default.
    public var booleans = FormOptions.Booleans.numeric
    /// How dates are written. ``FormOptions/Dates/deferred`` by default.
    public var dates = FormOptions.Dates<@Sendable (Date) throws -> String>.deferred
    /// How data is written. ``FormOptions/DataValues/base64`` by default.
    public var data = FormOptions.DataValues<@Sendable (Data) throws -> String>.base64
    /// How `nil` is written. ``FormOptions/Nils/dropped`` by default.
    public var nils = FormOptions.Nils.dropped
    /// How a space is written. ``FormOptions/Spaces/percent`` by default.
    public var spaces = FormOptions.Spaces.percent
    /// Which characters stand for themselves. ``FormOptions/Characters/rfc3986`` by default.
    public var characters = FormOptions.Characters.rfc3986
    /// How line breaks in names and values are written. ``FormOptions/LineBreaks/asGiven`` by default.
    public var lineBreaks = FormOptions.LineBreaks.asGiven
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

    /// An encoder that writes forms like browsers: ``FormOptions/Characters/whatwg``, ``FormOptions/Spaces/plus`` and
    /// ``FormOptions/LineBreaks/normalized``.
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
        let tree = try ParameterTreeEncoder.tree(of: value, ParameterSettings(naming: naming, transform: transform))
        guard case .record(let record) = tree else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "A form has names; the outermost value has no members."))
        }
        return try bytes(of: record)
    }

    func bytes(of record: ParameterRecord) throws -> [UInt8] {
        var form: [UInt8] = []
        guard !record.members.isEmpty else { return form }
        form.reserveCapacity(256)
        let escape = PercentEncoding(self)
        try forEachValue(of: record) { name, value, path in
            if !form.isEmpty { form.append(UInt8(ascii: "&")) }
            escape.append(name, to: &form)
            form.append(UInt8(ascii: "="))
            escape.append(try text(of: value, path: path), to: &form)
        }
        return form
    }

    /// Visits the values of a record that are not dropped. They have no members.
    func forEachValue(of record: ParameterRecord, _ visit: FormNames.Visit) throws {
        var names = FormNames(options: self)
        try names.forEachValue(of: record, visit)
    }

    /// The text of a value without members.
    ///
    /// - Parameter path: The names that lead to the value. An error uses them.
    func text(of node: ParameterNode, path: @autoclosure () -> [any CodingKey]) throws -> String {
        func text(_ value: some CustomStringConvertible, isFinite: Bool) throws -> String {
            guard isFinite else { throw Self.invalid(value, path(), "is a number that is not finite") }
            return value.description
        }
        switch node {
        case .absent, .null: return nils == .null ? "null" : ""
        case .boolean(let value): return booleans == .numeric ? (value ? "1" : "0") : String(value)
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .float(let value): return try text(value, isFinite: value.isFinite)
        case .double(let value): return try text(value, isFinite: value.isFinite)
        case .decimal(let value): return try text(value, isFinite: value.isFinite)
        case .text(let value): return value
        case .date(let value):
            guard let text = try dates.text(value) else {
                // The error must not hold the date itself, because Foundation traps when it prints such a date.
                throw Self.invalid(
                    value.timeIntervalSinceReferenceDate, path(), "is a date that cannot be written")
            }
            return text
        case .data(let value):
            return if case .custom(let make) = data { try make(value) } else { value.base64EncodedString() }
        case .list, .record: throw Self.invalid("", path(), "has members, but only one value fits here")
        }
    }

    /// The error for a value that cannot be written, in a sentence that names it.
    static func invalid(_ value: Any, _ path: [any CodingKey], _ reason: String) -> EncodingError {
        let name = path.map(\.stringValue).joined(separator: ".")
        return .invalidValue(value, .init(codingPath: path, debugDescription: "'\(name)' \(reason)."))
    }
}

extension PercentEncoding {
    /// The encoding that the options of an encoder describe.
    fileprivate init(_ options: URLEncodedFormEncoder) {
        self.init(
            options.characters == .rfc3986 ? Self.form : Self.formOfBrowsers, writesPlus: options.spaces == .plus,
            normalizesLineBreaks: options.lineBreaks == .normalized)
    }

    private static let form = table("-._~?/")
    private static let formOfBrowsers = table("*-._")
}

/// Names the values of a tree of parameters as a form does.
struct FormNames {
    /// - Parameters:
    ///   - name: The whole name, not escaped.
    ///   - path: The keys that lead to the value.
    typealias Visit = (_ name: String, _ value: ParameterNode, _ path: [ParameterKey]) throws -> Void

    private let options: URLEncodedFormEncoder
    private var name = ""
    private var path: [ParameterKey] = []

    fileprivate init(options: URLEncodedFormEncoder) {
        self.options = options
    }

    fileprivate mutating func forEachValue(of record: ParameterRecord, _ visit: Visit) throws {
        let isInOrder = !options.sortsKeys || record.isSorted
        for member in isInOrder ? record.members : record.members.sorted(by: { $0.name < $1.name }) {
            if options.nils == .dropped, member.value.isNil { continue }
            let key = ParameterKey(member.name)
            if !options.acceptsStructuredNames, options.nesting.isStructured(member.name, isNested: !path.isEmpty) {
                throw URLEncodedFormEncoder.invalid(
                    member.name, path + [key], "holds characters in its name that nested members are written with")
            }
            let whole = path.isEmpty ? member.name : options.nesting.name(member.name, in: name)
            try forEachValue(of: member.value, at: key, named: whole, visit)
        }
    }

    private mutating func forEachValue(of list: ParameterList, _ visit: Visit) throws {
        let isNumbered = list.elements.contains(where: \.isContainer)
        for (index, element) in list.elements.enumerated() {
            let key = ParameterKey(index: index)
            // An element must write something, because it must not be lost.
            if writesNothing(element) {
                throw URLEncodedFormEncoder.invalid(
                    "", path + [key],
                    element.isNil ? "is a nil in an array, and those are dropped" : "is an empty element of an array")
            }
            let whole = options.arrays.name(of: index, in: name, isNumbered: isNumbered)
            try forEachValue(of: element, at: key, named: whole, visit)
        }
    }

    private mutating func forEachValue(
        of node: ParameterNode, at key: ParameterKey, named whole: String, _ visit: Visit
    ) throws {
        let outer = name
        name = whole
        path.append(key)
        switch node {
        case .record(let record): try forEachValue(of: record, visit)
        case .list(let list): try forEachValue(of: list, visit)
        default: try visit(name, node, path)
        }
        name = outer
        path.removeLast()
    }

    private func writesNothing(_ node: ParameterNode) -> Bool {
        switch node {
        case .absent, .null: options.nils == .dropped
        case .list(let list): list.elements.isEmpty
        case .record(let record): record.members.allSatisfy { writesNothing($0.value) }
        default: false
        }
    }
}

extension ParameterRecord {
    fileprivate var isSorted: Bool {
        members.indices.dropFirst().allSatisfy { members[$0 - 1].name <= members[$0].name }
    }
}
