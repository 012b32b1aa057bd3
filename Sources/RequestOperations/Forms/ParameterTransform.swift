/// Changes values before they are encoded: a date into a number of seconds, an amount into text.
///
/// It is called for every value that is written, those of arrays and nested values too. It sees an optional value as what
/// that holds, and `nil` for a property or an element without a value. Some values write themselves as another, such as an
/// enumeration with raw values. The transform sees such a value as itself, and then as that other, if it left the first
/// unchanged.
///
/// What it returns is encoded in place of the value. The transform does not see that again, only its members. `nil` makes
/// the value an absent one. An error that it throws is the error of the encoding.
///
/// - Parameters:
///   - value: The value, or `nil` for a property without one.
///   - path: The keys that lead to it, outermost first. Those of an array's elements are numbers.
public typealias ParameterTransform =
    @Sendable (_ value: (any Encodable)?, _ path: [any CodingKey]) throws -> (any Encodable)?
