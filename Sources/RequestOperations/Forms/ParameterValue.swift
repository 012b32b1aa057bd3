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

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// Makes a text.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension ParameterValue: ExpressibleByIntegerLiteral {
    /// Makes a whole number.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}

extension ParameterValue: ExpressibleByFloatLiteral {
    /// Makes a number.
    public init(floatLiteral value: Double) {
        self.init(value)
    }
}

extension ParameterValue: ExpressibleByBooleanLiteral {
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }
}

extension ParameterValue: ExpressibleByArrayLiteral {
    /// Makes an array.
    public init(arrayLiteral elements: ParameterValue...) {
        self.init(elements)
    }
}

extension ParameterValue: ExpressibleByDictionaryLiteral {
    /// Makes nested parameters. If a name appears several times, the last value is used.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self.init(Dictionary(elements) { $1 })
    }
}

extension ParameterValue: ExpressibleByNilLiteral {
    /// Makes a null.
    public init(nilLiteral: ()) {
        value = nil
    }
}

extension ParameterValue: CustomStringConvertible, CustomReflectable {
    /// Only the name of the type, because the value may be a secret.
    public var description: String { "ParameterValue" }

    /// No children, so that `dump` does not show the value.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
