/// Parameters that a request has beside those of its endpoint.
struct RequestParameters: Sendable {
    /// All parameters of the endpoint win over these.
    var defaults: [String: ParameterValue] = [:]
    /// These win over all parameters of the endpoint.
    var own: [String: ParameterValue] = [:]
    /// Where parameters go. `nil`, the default, means where the method puts them.
    var placement: ParameterPlacement?
}
