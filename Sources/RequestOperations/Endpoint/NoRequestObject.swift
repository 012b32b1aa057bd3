/// The type of ``Endpoint/requestObject`` for an endpoint without a request object.
public struct NoRequestObject: Encodable, Sendable {
    /// Makes the only value.
    public init() {}

    /// Encodes no member.
    public func encode(to encoder: any Encoder) throws {}
}
