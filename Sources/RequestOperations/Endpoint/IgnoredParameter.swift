/// A wrapper that keeps a property of any type out of the request.
protocol IgnoredParameter {
    /// The declared type of the property.
    var valueType: Any.Type { get }
}
