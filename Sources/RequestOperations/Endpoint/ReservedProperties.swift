/// Finds stored properties that have a name of the protocol of endpoints and are not what the protocol asks for.
///
/// Such a type compiles, since the protocol has a default for nearly all of its members. `let method = "POST"` is another
/// property, of type `String`, and the request would be a GET. A computed property cannot be found in this way.
enum ReservedProperties {
    /// - Throws: An `EndpointProblem` that names the property.
    static func check<Subject: Endpoint>(_ endpoint: Subject) throws {
        var mirror: Mirror? = Mirror(reflecting: endpoint)
        while let current = mirror {
            // The children of an enumeration are its cases.
            guard current.displayStyle == .struct || current.displayStyle == .class else { return }
            for case (let label?, let value) in current.children {
                let name = StoredProperty.name(label)
                guard ReservedNames.all.contains(name), let type = types(of: name, in: Subject.self) else { continue }
                try check(name, value, isOf: StoredProperty.isLazy(label) ? type.lazy : type.plain, in: current)
            }
            mirror = current.superclassMirror
        }
    }

    private static func check(_ name: String, _ value: Any, isOf expected: Any.Type, in mirror: Mirror) throws {
        let ignored = value as? any IgnoredParameter
        // A wrapper says that the property is a parameter.
        guard ignored != nil || !(value is any PlacedParameter) else { return }
        let found = ignored?.valueType ?? type(of: value)
        guard found == expected else {
            throw EndpointProblem(
                description:
                    "'\(name)' of '\(mirror.subjectType)' has the type '\(found)', and the protocol Endpoint asks for"
                    + " '\(expected)': the request would be made without it. Give it that type, another name, or a place, as"
                    + " in @Query(\"\(name)\").")
        }
        // Only a property of the class that conforms counts, and a stored property overrides none.
        if let superclass = mirror.superclassMirror?.subjectType, superclass is any Endpoint.Type {
            throw EndpointProblem(
                description:
                    "'\(name)' of '\(mirror.subjectType)' is not that of its superclass '\(superclass)', which is an"
                    + " Endpoint: the request would be made without it. Declare it there, and override it.")
        }
    }

    /// The type that the protocol asks for, and that of the storage of a lazy property.
    private static func types<Subject: Endpoint>(
        of name: String, in subject: Subject.Type
    ) -> (plain: Any.Type, lazy: Any.Type)? {
        func types<Value>(_ type: Value.Type) -> (plain: Any.Type, lazy: Any.Type) { (type, Value?.self) }
        return switch name {
        case "method": types(HTTPMethod.self)
        case "path", "debugDescription": types(String.self)
        case "headers": types([String: String].self)
        case "parameters": types([String: ParameterValue].self)
        case "requestObject": types(Subject.RequestObject.self)
        case "naming": types(ParameterNaming.self)
        case "valueTransform": types(ParameterTransform?.self)
        case "queryEncoder": types(URLEncodedFormEncoder.self)
        case "bodyEncoder": types(ParameterEncoder.self)
        case "files": types([MultipartFormData.Part].self)
        case "acceptedContentTypes": types([String].self)
        case "responseDecoder": types(ResponseDecoder<Subject.Response>.self)
        case "errorBodyDecoder": types(ErrorBodyDecoder?.self)
        default: nil
        }
    }
}
