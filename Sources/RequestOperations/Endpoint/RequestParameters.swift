/// Parameters that a request has beside those of its endpoint.
struct RequestParameters: Sendable {
    /// All parameters of the endpoint win over these.
    var defaults: [String: ParameterValue] = [:]
    /// These win over all parameters of the endpoint.
    var own: [String: ParameterValue] = [:]
    /// Where parameters go. `nil`, the default, means where the method puts them.
    var placement: ParameterPlacement?

    /// The same without defaults that one of the URLs already has. `nil` if they have none.
    func withoutDefaults(in urls: [String], _ naming: ParameterNaming) -> RequestParameters? {
        guard !defaults.isEmpty else { return nil }
        let names = urls.reduce(into: Set<String>()) { $0.formUnion($1.namesInQuery) }
        var rest = self
        rest.defaults = defaults.filter { !names.contains($0.key) && !names.contains(naming.name(for: $0.key)) }
        return rest.defaults.count < defaults.count ? rest : nil
    }
}

extension String {
    /// The names of parameters in the query of a URL. Of a nested name such as `ids[]`, also the first part.
    fileprivate var namesInQuery: Set<String> {
        guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = self[mark...].dropFirst().prefix { $0 != "#" }
        return query.split(separator: "&").reduce(into: []) { names, item in
            let raw = item.prefix { $0 != "=" }.replacingOccurrences(of: "+", with: " ")
            let name = raw.removingPercentEncoding ?? raw
            names.formUnion([name, String(name.prefix { $0 != "[" })])
        }
    }
}
