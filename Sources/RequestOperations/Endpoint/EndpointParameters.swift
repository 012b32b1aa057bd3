/// The parameters of an endpoint, grouped by the part of the request that they go to.
///
/// The request object comes first, then the properties, then the further parameters. A later parameter replaces all
/// earlier ones of the same name, in any part of the request. It goes to the part of the one that it replaces, unless a
/// wrapper puts it elsewhere. Path variables are an exception: they name the object of the request, and an object in
/// the body may repeat that name.
struct EndpointParameters {
    let path = ParameterRecord()
    let query = ParameterRecord()
    let fields = ParameterRecord()
    let body = ParameterRecord()
    private let placement: ParameterPlacement

    /// Takes the parameters of an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - others: What a client adds. Its defaults come before all parameters of the endpoint, and those of the call last.
    init<Subject: Endpoint>(of endpoint: Subject, and others: RequestParameters = RequestParameters()) throws {
        placement = others.placement ?? endpoint.method.placement
        // The call of a client has no properties of its own.
        let hasProperties = Subject.self != PlainEndpoint.self
        if hasProperties { try ReservedProperties.check(endpoint) }
        func record(_ value: some Encodable, _ what: String) throws -> (ParameterRecord, ParameterSettings) {
            let settings = ParameterSettings(
                naming: endpoint.naming, transform: endpoint.valueTransform, isForEndpoint: true)
            switch try ParameterTreeEncoder.tree(of: value, settings) {
            case .record(let record): return (record, settings)
            case .absent, .null: return (ParameterRecord(), settings)
            default: throw EndpointProblem(description: "\(what) has no members that could be parameters.")
            }
        }
        func add(_ values: [String: ParameterValue], _ what: String) throws {
            if !values.isEmpty { try put(record(values, what).0) }
        }
        try add(others.defaults, "'parameters' of the client")
        switch endpoint.requestObject {
        case let object as ParameterValue where object.value == nil: break
        case let object as [String: ParameterValue] where object.isEmpty: break
        case let object: try put(record(object, "The request object").0)
        }
        if hasProperties {
            let (own, notes) = try record(endpoint, "'\(Subject.self)'")
            try ReservedProperties.remove(from: own, of: endpoint, notes)
            try put(own)
        }
        try add(endpoint.parameters, "'parameters'")
        try add(others.own, "'parameters' of the call")
    }

    /// Adds the members of a record to their parts. They replace earlier members of the same name.
    private func put(_ record: ParameterRecord) throws {
        let plain = record.members.flatMap { member in
            earlierPlacements(of: member.name, default: placement).map { ($0, member) }
        }
        let placed = record.placedMembers.map { ($0.placement, $0.member) }
        let moved = placed.filter { $0.0 != .path }.map(\.1.name)
        if !moved.isEmpty { remove(Set(moved)) }
        var taken: [ParameterPlacement: Set<String>] = [:]
        for (placement, member) in plain + placed {
            guard taken[placement, default: []].insert(placement.key(member.name)).inserted else {
                throw EndpointProblem(
                    description: "Two properties have the name '\(member.name)' in the same part of the request.")
            }
            set(member, in: placement)
        }
    }

    private var parts: [(ParameterPlacement, ParameterRecord)] {
        [(.path, path), (.query, query), (.field, fields), (.body, body)]
    }

    private func set(_ member: ParameterRecord.Member, in placement: ParameterPlacement) {
        for (part, record) in parts where part == placement {
            // The name of an earlier field may differ in case.
            if part == .field { record.removeAll { part.key($0) == part.key(member.name) } }
            record.set(member.name, member.value)
        }
    }

    private func remove(_ names: Set<String>) {
        for (part, record) in parts where part != .path {
            let keys = Set(names.map(part.key))
            record.removeAll { keys.contains(part.key($0)) }
        }
    }

    /// The parts that hold earlier values of this name. If there are none, the default.
    private func earlierPlacements(of name: String, default placement: ParameterPlacement) -> [ParameterPlacement] {
        let earlier = parts.filter { part, record in
            part == .field
                ? record.members.contains { part.key($0.name) == part.key(name) } : record.value(name) != nil
        }
        return earlier.isEmpty ? [placement] : earlier.map(\.0)
    }
}

extension ParameterPlacement {
    /// The form of a name that is compared here. Names of header fields ignore case.
    fileprivate func key(_ name: String) -> String {
        self == .field ? name.lowercased() : name
    }
}

/// Parameters that a request has beside those of its endpoint.
struct RequestParameters: Sendable {
    /// All parameters of the endpoint win over these.
    var defaults: [String: ParameterValue] = [:]
    /// These win over all parameters of the endpoint.
    var own: [String: ParameterValue] = [:]
    /// Where parameters go. `nil`, the default, means where the method puts them.
    var placement: ParameterPlacement?

    /// The same parameters without the defaults that one of the URLs already has. `nil` if the URLs have none.
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
