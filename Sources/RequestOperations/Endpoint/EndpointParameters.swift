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
        try ReservedProperties.check(endpoint)
        placement = others.placement ?? endpoint.method.placement
        func record(_ value: some Encodable, _ what: String) throws -> (ParameterRecord, typesOfKeys: [String]) {
            let (tree, settings) = try ParameterTreeEncoder.notedTree(
                of: value, naming: endpoint.naming, transform: endpoint.valueTransform)
            switch tree {
            case .record(let record): return (record, settings.typesOfKeys)
            case .absent, .null: return (ParameterRecord(), [])
            default: throw EndpointProblem(description: "\(what) has no members that could be parameters.")
            }
        }
        try put(record(others.defaults, "'parameters' of the client").0)
        try put(record(endpoint.requestObject, "The request object").0)
        let (own, typesOfKeys) = try record(endpoint, "'\(Subject.self)'")
        let encoded = own.members.map(\.name) + own.placedMembers.map(\.key)
        try SubclassCheck.check(endpoint, encoded: encoded, typesOfKeys: typesOfKeys)
        let reserved = try ReservedNames(of: endpoint).names(in: own)
        own.removeAll(where: reserved.contains)
        try put(own)
        try put(record(endpoint.parameters, "'parameters'").0)
        try put(record(others.own, "'parameters' of the call").0)
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

    private func set(_ member: ParameterRecord.Member, in placement: ParameterPlacement) {
        switch placement {
        case .path: path.set(member.name, member.value)
        case .query: query.set(member.name, member.value)
        case .body: body.set(member.name, member.value)
        case .field:
            fields.removeAll { placement.key($0) == placement.key(member.name) }
            fields.set(member.name, member.value)
        case .ignored: break
        }
    }

    private func remove(_ names: Set<String>) {
        query.removeAll(where: names.contains)
        body.removeAll(where: names.contains)
        let keys = Set(names.map(ParameterPlacement.field.key))
        fields.removeAll { keys.contains(ParameterPlacement.field.key($0)) }
    }

    /// The parts that hold earlier values of this name. If there are none, the default.
    private func earlierPlacements(of name: String, default placement: ParameterPlacement) -> [ParameterPlacement] {
        var placements: [ParameterPlacement] = []
        if path.value(name) != nil { placements.append(.path) }
        if query.value(name) != nil { placements.append(.query) }
        let key = ParameterPlacement.field.key(name)
        if fields.members.contains(where: { ParameterPlacement.field.key($0.name) == key }) {
            placements.append(.field)
        }
        if body.value(name) != nil { placements.append(.body) }
        return placements.isEmpty ? [placement] : placements
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

/// Finds a subclass of an endpoint with properties that the inherited `encode(to:)` does not encode.
enum SubclassCheck {
    /// - Parameters:
    ///   - endpoint: The endpoint. Only an object of a subclass is checked.
    ///   - encoded: The names of the parameters, and the keys of the parameters that wrappers place.
    ///   - typesOfKeys: The names of the key types that the endpoint was encoded with.
    static func check(_ endpoint: some Endpoint, encoded: [String], typesOfKeys: [String]) throws {
        var missing: [String] = []
        var mirror = Mirror(reflecting: endpoint)
        // The root class encodes its own properties itself, or leaves them out itself.
        while let superclass = mirror.superclassMirror {
            // A class that used keys of its own encodes itself. It leaves properties out on purpose.
            let type = String(reflecting: mirror.subjectType)
            if !typesOfKeys.contains(where: { $0.hasPrefix(type + ".") }) {
                missing += properties(of: mirror).filter { label, name in
                    !encoded.contains { [label, name, endpoint.naming.name(for: name)].contains($0) }
                }.map(\.name)
            }
            mirror = superclass
        }
        guard !missing.isEmpty else { return }
        let names = missing.map { "'\($0)'" }.joined(separator: ", ")
        throw EndpointProblem(
            description:
                "\(names) of the class '\(type(of: endpoint))' would be left out: it writes its own encode(to:), with"
                + " CodingKeys of its own, or wraps them in @Ignored.")
    }

    /// The properties of one class that could be parameters.
    private static func properties(of mirror: Mirror) -> [(label: String, name: String)] {
        mirror.children.compactMap { child in
            guard let label = child.label, !isLeftOut(child.value), !label.hasPrefix("$") else { return nil }
            let name = StoredProperty.name(label)
            return ReservedNames.all.contains(name) ? nil : (label, name)
        }
    }

    private static func isLeftOut(_ value: Any) -> Bool {
        (value as? any PlacedParameter)?.placement == .ignored
    }
}
