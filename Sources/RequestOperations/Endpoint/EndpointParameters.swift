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
