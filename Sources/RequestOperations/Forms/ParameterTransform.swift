/// Changes values before they are encoded: a date into a number of seconds, an amount into text.
///
/// It sees every value that is written, those of arrays and nested values too, an optional one as what it holds, and `nil`
/// for a property or an element that has none. A value that writes itself as another, such as an enumeration with raw
/// values, is seen as itself, and then, if it was left as it is, as that other. What the transform returns is encoded in
/// place of the value and is not shown to it again, only its members are; `nil` makes the value one that is absent. An error
/// out of it is the error of the encoding.
///
/// - Parameters:
///   - value: The value, or `nil` for a property without one.
///   - path: The keys that lead to it, outermost first; those of an array's elements are numbers.
public typealias ParameterTransform =
    @Sendable (_ value: (any Encodable)?, _ path: [any CodingKey]) throws -> (any Encodable)?
