/// An optional of any type.
protocol OptionalParameter {
    var encodableValue: (any Encodable)? { get }
}

extension Optional: OptionalParameter where Wrapped: Encodable {
    var encodableValue: (any Encodable)? { flatMap { $0 } }
}
