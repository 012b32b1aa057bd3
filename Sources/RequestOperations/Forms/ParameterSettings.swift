/// The settings and notes of a whole encoding.
final class ParameterSettings {
    let naming: ParameterNaming
    let transform: ParameterTransform?
    /// The names of the key types that the outermost value was written with. They are noted only for endpoints.
    var typesOfKeys: [String] = []
    /// The first error that was noted, for example two properties with the same name.
    private(set) var contradiction: EncodingError?
    private var namesOfTypes: [ObjectIdentifier: Set<String>] = [:]

    init(naming: ParameterNaming, transform: ParameterTransform?) {
        self.naming = naming
        self.transform = transform
    }

    /// Notes an error that fails the encoding at its end.
    func note(_ error: EncodingError) {
        contradiction = contradiction ?? error
    }

    /// The names that the type of a value declares: those of its stored properties, including the ones of its
    /// superclasses. For an enumeration, they are the names of its present case and of the associated values.
    func declaredNames(of value: any Encodable) -> Set<String> {
        let type = ObjectIdentifier(Swift.type(of: value))
        if let known = namesOfTypes[type] { return known }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .class, nil:
            let names = StoredProperty.names(of: value)
            namesOfTypes[type] = names
            return names
        case .enum:
            // Another value of this type may be another case, so the names are not kept.
            guard let label = mirror.children.first?.label else { return [String(describing: value)] }
            let labels = mirror.children.flatMap { Mirror(reflecting: $0.value).children.compactMap(\.label) }
            return Set(labels + [label])
        default:
            // The keys of a dictionary are data.
            return []
        }
    }
}
