/// The names that mirrors give to stored properties.
enum StoredProperty {
    private static let lazyPrefix = "$__lazy_storage_$_"

    /// Whether a label names the storage of a lazy property. That storage is optional.
    static func isLazy(_ label: String) -> Bool { label.hasPrefix(lazyPrefix) }

    /// The declared name for a label. The storage of a wrapped property begins with an underscore.
    static func name(_ label: String) -> String {
        if label.hasPrefix(lazyPrefix) { return String(label.dropFirst(lazyPrefix.count)) }
        return label.hasPrefix("_") ? String(label.dropFirst()) : label
    }

    /// The encodable stored properties of a value by their declared names, including those of its superclasses.
    static func values(of value: Any) -> [String: any Encodable] {
        var values: [String: any Encodable] = [:]
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for child in current.children {
                guard let label = child.label, let value = child.value as? any Encodable else { continue }
                values[name(label)] = value
            }
            mirror = current.superclassMirror
        }
        return values
    }

    /// The names of the stored properties of a value, including those of its superclasses. Each name is also included
    /// as its label has it.
    static func names(of value: Any) -> Set<String> {
        var names: Set<String> = []
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for label in current.children.compactMap(\.label) { names.formUnion([label, name(label)]) }
            mirror = current.superclassMirror
        }
        return names
    }
}
