/// How the name of a property becomes the name of a parameter.
///
/// Only names as declared are converted. Names from `CodingKeys` and the keys of dictionaries stay unchanged.
public struct ParameterNaming: Sendable {
    /// `nil` leaves every name unchanged and costs nothing.
    let convert: (@Sendable (String) -> String)?

    private init(convert: (@Sendable (String) -> String)?) {
        self.convert = convert
    }

    /// The name as it is declared.
    public static let asDeclared = ParameterNaming(convert: nil)

    /// Words in lower case, joined by `_`: `userID` becomes `user_id`. See ``separated(by:)``.
    public static let snakeCase = separated(by: "_")

    /// Words in lower case, joined by a separator.
    ///
    /// A word begins at a capital after a digit or after a letter that is not a capital. If several capitals precede a
    /// small letter, the last capital begins a word. Capitals with a plural `s` are one word. So `userID`, `URLString`,
    /// `userIDs` and `address2Line` become `user_id`, `url_string`, `user_ids` and `address2_line`. Letters of any
    /// script in Unicode count.
    public static func separated(by separator: String) -> ParameterNaming {
        ParameterNaming { name in name.words(joinedBy: separator) }
    }

    /// Your own conversion, which is called once for each name that is written.
    public static func custom(_ convert: @escaping @Sendable (_ name: String) -> String) -> ParameterNaming {
        ParameterNaming(convert: convert)
    }

    /// The parameter's name for a declared name.
    public func name(for declared: String) -> String {
        convert?(declared) ?? declared
    }
}

/// Changes values before they are encoded, for example a date into a number of seconds, or an amount into text.
///
/// It is called for every value that is written, including those in arrays and nested values. For an optional it gets
/// the value inside, and for a property or an element without a value it gets `nil`. Some values write themselves as
/// another value, such as an enumeration with raw values. The transform gets such a value first. If it returns that
/// value unchanged, it then also gets the other value.
///
/// The result is encoded instead of the value. The transform does not get the result again, only its members. A result
/// of `nil` makes the value absent. An error that it throws becomes the error of the encoding.
///
/// - Parameters:
///   - value: The value, or `nil` for a property without one.
///   - path: The keys that lead to it, outermost first. The keys of array elements are numbers.
public typealias ParameterTransform =
    @Sendable (_ value: (any Encodable)?, _ path: [any CodingKey]) throws -> (any Encodable)?

/// The names that mirrors give to stored properties.
enum StoredProperty {
    private static let lazyPrefix = "$__lazy_storage_$_"
    private static let namesOfTypes = Locked<[ObjectIdentifier: Set<String>]>([:])

    /// Whether a label names the storage of a lazy property. That storage is optional.
    static func isLazy(_ label: String) -> Bool { label.hasPrefix(lazyPrefix) }

    /// The declared name for a label. The storage of a wrapped property begins with an underscore.
    static func name(_ label: String) -> String {
        if isLazy(label) { return String(label.dropFirst(lazyPrefix.count)) }
        return label.hasPrefix("_") ? String(label.dropFirst()) : label
    }

    /// The labels and values of the stored properties of a value, including those of its superclasses.
    static func all(of value: Any) -> [(label: String, value: Any)] {
        sequence(first: Mirror(reflecting: value), next: \.superclassMirror).flatMap { mirror in
            mirror.children.compactMap { child in child.label.map { ($0, child.value) } }
        }
    }

    /// The names that the type of a value declares: those of its stored properties, as declared and as their labels have
    /// them. For an enumeration, they are the names of its present case and of the associated values.
    static func declaredNames(of value: any Encodable) -> Set<String> {
        let type = ObjectIdentifier(Swift.type(of: value))
        if let known = namesOfTypes.withLock({ $0[type] }) { return known }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .class, nil:
            let names = Set(all(of: value).flatMap { [$0.label, name($0.label)] })
            // A mirror of one's own may show other names for another value.
            if !(value is any CustomReflectable) { namesOfTypes.withLock { $0[type] = names } }
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
