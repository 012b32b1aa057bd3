/// A type that has a value for a response without content, such as a response with the status 204.
public protocol EmptyRepresentable {
    /// The value of an empty body.
    static var emptyValue: Self { get }
}

extension Data: EmptyRepresentable {
    /// No bytes.
    public static var emptyValue: Data { Data() }
}

extension String: EmptyRepresentable {
    /// `""`.
    public static var emptyValue: String { "" }
}

extension Optional: EmptyRepresentable {
    /// `nil`.
    public static var emptyValue: Wrapped? { .none }
}
