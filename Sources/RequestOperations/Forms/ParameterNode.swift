/// What an `Encodable` value wrote, before it becomes a query, a body or a header field.
enum ParameterNode {
    /// An optional property without a value.
    case absent
    /// A `nil` that was written explicitly.
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case data(Data)
    case list(ParameterList)
    case record(ParameterRecord)

    var isNil: Bool {
        switch self {
        case .absent, .null: true
        default: false
        }
    }

    var isContainer: Bool {
        switch self {
        case .list, .record: true
        default: false
        }
    }
}

/// The elements of an unkeyed container.
final class ParameterList {
    var elements: [ParameterNode] = []
}

/// The members of a keyed container, in the order in which they were written. If a name is written twice, the last
/// value is kept.
final class ParameterRecord {
    struct Member {
        let name: String
        var value: ParameterNode
    }

    /// A member that an endpoint's property wrapper puts elsewhere. Several may have the same name.
    struct PlacedMember {
        let placement: ParameterPlacement
        /// The key under which the member was written. It may differ from the member's name.
        let key: String
        let member: Member
    }

    private(set) var members: [Member] = []
    private(set) var placedMembers: [PlacedMember] = []
    /// The index of each name. Only a record with many members has it, because a linear search is faster for few
    /// members.
    private var places: [String: Int]?

    private static let manyMembers = 16

    func set(_ name: String, _ value: ParameterNode) {
        if let place = place(of: name) {
            members[place].value = value
            return
        }
        places?[name] = members.count
        members.append(Member(name: name, value: value))
        if members.count == Self.manyMembers { notePlaces() }
    }

    /// Sets a member that goes elsewhere. It replaces one with the same key and place.
    func setPlaced(_ member: PlacedMember) {
        placedMembers.removeAll { $0.key == member.key && $0.placement == member.placement }
        placedMembers.append(member)
    }

    func value(_ name: String) -> ParameterNode? {
        place(of: name).map { members[$0].value }
    }

    func removeAll(where isRemoved: (String) -> Bool) {
        members.removeAll { isRemoved($0.name) }
        if places != nil { notePlaces() }
    }

    private func notePlaces() {
        places = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.name, $0) })
    }

    private func place(of name: String) -> Int? {
        if let places { return places[name] }
        return members.firstIndex { $0.name == name }
    }
}

extension ParameterNode {
    /// The types that are always written as they are. Their own `encode(to:)` is not called.
    init?<Value: Encodable>(scalar value: Value) {
        // The comparison only compares addresses, but a cast costs far more.
        func exact<Scalar>(_ type: Scalar.Type) -> Scalar? { Value.self == type ? value as? Scalar : nil }
        if let text = exact(String.self) {
            self = .text(text)
        } else if let number = exact(Int.self) {
            self = .integer(Int64(number))
        } else if let number = exact(Double.self) {
            self = .double(number)
        } else if let boolean = exact(Bool.self) {
            self = .boolean(boolean)
        } else if let date = exact(Date.self) {
            self = .date(date)
        } else if let data = exact(Data.self) {
            self = .data(data)
        } else if let url = exact(URL.self) {
            self = .text(url.absoluteString)
        } else if let decimal = exact(Decimal.self) {
            self = .decimal(decimal)
        } else if let number = exact(Float.self) {
            self = .float(number)
        } else if let number: any SignedInteger =
            exact(Int8.self) ?? exact(Int16.self) ?? exact(Int32.self) ?? exact(Int64.self)
        {
            self = .integer(Int64(number))
        } else if let number: any UnsignedInteger =
            exact(UInt.self) ?? exact(UInt8.self) ?? exact(UInt16.self) ?? exact(UInt32.self) ?? exact(UInt64.self)
        {
            self = .unsigned(UInt64(number))
        } else {
            return nil
        }
    }
}

/// A value of any encodable type, for parameters of several types in one dictionary.
///
/// ```swift
/// let parameters: [String: ParameterValue] = ["q": "swift", "page": 2, "since": ParameterValue(Date())]
/// ```
///
/// Write it as a literal, or make it from a value.
public struct ParameterValue: Encodable, Sendable {
    let value: (any Encodable & Sendable)?

    /// Makes a parameter value from any other value.
    public init(_ value: some Encodable & Sendable) {
        self.value = value
    }

    /// Encodes only the value inside; `nil` becomes null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Makes a text.
    public init(stringLiteral value: String) { self.init(value) }

    /// Makes a whole number.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Makes a number.
    public init(floatLiteral value: Double) { self.init(value) }

    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self.init(value) }

    /// Makes an array.
    public init(arrayLiteral elements: ParameterValue...) { self.init(elements) }

    /// Makes nested parameters. If a name appears several times, the last value is used.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) { self.init(Dictionary(elements) { $1 }) }

    /// Makes a null.
    public init(nilLiteral: ()) { value = nil }
}

extension ParameterValue: CustomStringConvertible, OpaqueReflectable {
    /// Only the name of the type, because the value may be a secret.
    public var description: String { "ParameterValue" }
}
