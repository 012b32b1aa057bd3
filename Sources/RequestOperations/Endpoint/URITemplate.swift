/// A URI template of level 4 (RFC 6570).
struct URITemplate {
    private enum Part {
        case literal(String)
        case expression(Operator, [Variable])
    }

    private struct Variable {
        let name: String
        var maximumLength: Int?
        var isExploded = false
    }

    private var parts: [Part] = []

    /// The names of the variables.
    var variables: Set<String> {
        var names: Set<String> = []
        for case .expression(_, let variables) in parts { names.formUnion(variables.map(\.name)) }
        return names
    }

    /// Reads a template.
    init(_ text: String) throws {
        // The text is read by scalars, because a brace plus a combining mark is a different `Character`.
        var rest = text.unicodeScalars[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else {
                throw EndpointProblem(description: "A brace in the path has no matching brace.")
            }
            if brace > rest.startIndex { parts.append(Self.literal(rest[..<brace])) }
            parts.append(try Self.expression(Substring(rest[rest.index(after: brace)..<end])))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(Self.literal(rest)) }
    }

    private static func literal(_ text: Substring.UnicodeScalarView) -> Part {
        .literal(PercentEncoding.reserved.encoded(String(Substring(text))))
    }

    /// Whether the template itself is an absolute URL.
    ///
    /// - Throws: An `EndpointProblem` if a variable supplies the host or a part of it. A value could then send the request to
    ///   another host.
    var isAbsolute: Bool {
        get throws {
            guard case .literal(let text)? = parts.first, text.hasScheme else { return false }
            let endsInAuthority = URLReference.endOfAuthority(in: text) == text.endIndex
            guard parts.count > 1, endsInAuthority else { return true }
            guard case .expression(let sign, _) = parts[1], ["/", "?", "#"].contains(sign.first) else {
                throw EndpointProblem(description: "The path is an absolute URL, but a variable could change its host.")
            }
            return true
        }
    }

    private static func expression(_ text: Substring) throws -> Part {
        let sign = text.first.flatMap { Operator.table[$0] }
        let list = sign == nil ? text : text.dropFirst()
        let variables = try list.split(separator: ",", omittingEmptySubsequences: false).map(variable)
        return .expression(sign ?? .simple, variables)
    }

    private static func variable(_ text: Substring) throws -> Variable {
        let nameEnd = text.firstIndex { $0 == "*" || $0 == ":" } ?? text.endIndex
        let (name, modifier) = (text[..<nameEnd], text[nameEnd...])
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.allSatisfy(isNamePart), modifier == "" || modifier == "*" || isPrefix(modifier) else {
            throw EndpointProblem(description: "'{\(text)}' in the path is not an expression of RFC 6570.")
        }
        return Variable(
            name: String(name), maximumLength: Int(modifier.dropFirst()), isExploded: modifier == "*")
    }

    /// Whether the text is a part of a name: letters, digits, underscores and escapes (RFC 6570, section 2.3).
    private static func isNamePart(_ text: Substring) -> Bool {
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.popFirst()?.hexadecimalDigit != nil, rest.popFirst()?.hexadecimalDigit != nil else {
                    return false
                }
            } else if !byte.isLetter, !byte.isDigit, byte != UInt8(ascii: "_") {
                return false
            }
        }
        return !text.isEmpty
    }

    /// Whether the modifier is a prefix: a colon and a number from 1 to 9999 (RFC 6570, section 2.4.1).
    private static func isPrefix(_ modifier: Substring) -> Bool {
        let digits = modifier.dropFirst().utf8
        return modifier.first == ":" && (1...4).contains(digits.count) && digits.allSatisfy(\.isDigit)
            && digits.first != UInt8(ascii: "0")
    }

    /// The text, with the values of the variables in place of each expression.
    ///
    /// A variable is undefined if its value is missing, is nil, or has no elements.
    ///
    /// - Parameters:
    ///   - values: The values by name.
    ///   - text: Makes the text of a single value.
    func expanded(with values: [String: ParameterNode], text: (ParameterNode, String) throws -> String) throws -> String
    {
        var expansion = ""
        for part in parts {
            switch part {
            case .literal(let literal): expansion += literal
            case .expression(let sign, let variables):
                let pieces = try variables.flatMap { variable in
                    try Self.expand(variable, sign, values[variable.name] ?? .absent) { try text($0, variable.name) }
                }
                if !pieces.isEmpty { expansion += sign.first + pieces.joined(separator: sign.separator) }
            }
        }
        return expansion
    }

    private static func expand(
        _ variable: Variable, _ sign: Operator, _ value: ParameterNode, text: (ParameterNode) throws -> String
    ) throws -> [String] {
        func escaped(_ text: String) -> String { sign.encoding.encoded(text) }
        func named(_ name: String, _ value: String) -> String {
            if value.isEmpty { return name + sign.afterEmptyName }
            return "\(name)=\(value)"
        }
        switch value {
        case .absent, .null:
            return []
        case .list(let list):
            let elements = try list.elements.filter { !$0.isNil }.map { escaped(try text($0)) }
            return try expand(variable, sign, elements) { named(variable.name, $0) }
        case .record(let record):
            let members = try record.members.filter { !$0.value.isNil }
                .map { (escaped($0.name), escaped(try text($0.value))) }
            if variable.isExploded {
                return members.map { sign.isNamed ? named($0, $1) : "\($0)=\($1)" }
            }
            return try expand(variable, sign, members.flatMap { [$0, $1] }) { named(variable.name, $0) }
        default:
            let whole = try text(value)
            let cut = variable.maximumLength.map { String(String.UnicodeScalarView(whole.unicodeScalars.prefix($0))) }
            let piece = escaped(cut ?? whole)
            return [sign.isNamed ? named(variable.name, piece) : piece]
        }
    }

    /// The expansion of several values that are already escaped.
    private static func expand(
        _ variable: Variable, _ sign: Operator, _ values: [String], named: (String) -> String
    ) throws -> [String] {
        guard variable.maximumLength == nil else {
            throw EndpointProblem(description: "'\(variable.name)' has several values, but a prefix applies to one.")
        }
        guard !values.isEmpty else { return [] }
        if variable.isExploded { return sign.isNamed ? values.map(named) : values }
        let joined = values.joined(separator: ",")
        return [sign.isNamed ? named(joined) : joined]
    }
}

extension URITemplate {
    /// A row of the table in appendix A of the RFC.
    fileprivate struct Operator {
        let first: String
        let separator: String
        var isNamed = false
        /// The text after the name of an empty value.
        var afterEmptyName = ""
        /// How values are escaped.
        var encoding = PercentEncoding.unreserved

        static let simple = Operator(first: "", separator: ",")
        static let table: [Character: Operator] = [
            "+": Operator(first: "", separator: ",", encoding: .reserved),
            "#": Operator(first: "#", separator: ",", encoding: .reserved),
            ".": Operator(first: ".", separator: "."),
            "/": Operator(first: "/", separator: "/"),
            ";": Operator(first: ";", separator: ";", isNamed: true),
            "?": Operator(first: "?", separator: "&", isNamed: true, afterEmptyName: "="),
            "&": Operator(first: "&", separator: "&", isNamed: true, afterEmptyName: "="),
        ]
    }
}
