/// Changes values before they are encoded, for example a date into a number of seconds, or an amount into text.
///
/// It is called for every value that is written, including those in arrays and nested values. For an optional it gets
/// the value inside, and for a property or an element without a value it gets `nil`. Some values write themselves as
/// another value, such as an enumeration with raw values. The transform gets such a value first. If it returns that
/// value unchanged, it then also gets the other value.
///
/// The result is encoded instead of the value. The transform does not get the result again, only its members. A result
/// of `nil` makes the value absent. An error that it throws becomes the error of the encoding.
///
/// - Parameters:
///   - value: The value, or `nil` for a property without one.
///   - path: The keys that lead to it, outermost first. The keys of array elements are numbers.
public typealias ParameterTransform =
    @Sendable (_ value: (any Encodable)?, _ path: [any CodingKey]) throws -> (any Encodable)?
