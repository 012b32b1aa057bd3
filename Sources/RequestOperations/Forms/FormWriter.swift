/// Writes a tree of parameters as the pairs of a form.
struct FormWriter {
    private let options: URLEncodedFormEncoder
    private let escape: PercentEncoding
    /// Whether the pairs are collected in a list and not written to the output.
    private let listsPairs: Bool
    /// Whether names are built as text, for a closure or for a list of pairs. Otherwise they are built in escaped form.
    private let makesNames: Bool
    /// The bytes of the form.
    private(set) var output: [UInt8] = []
    private(set) var pairs: [(name: String, value: ParameterNode)] = []
    /// The escaped name built so far.
    private var prefix: [UInt8] = []
    private var path: [Segment] = []

    private enum Segment {
        case name(String)
        /// An element of an array. `isNumbered`: its number is written, even if the options do not ask for numbers.
        case element(Int, isNumbered: Bool)
    }

    init(_ options: URLEncodedFormEncoder, listsPairs: Bool = false) {
        self.options = options
        self.listsPairs = listsPairs
        escape = PercentEncoding(options)
        makesNames = listsPairs || options.makesNames
        output.reserveCapacity(listsPairs ? 0 : 256)
    }

    /// Writes the members of the outermost value.
    mutating func write(_ record: ParameterRecord) throws {
        if options.sortsKeys, !record.isSorted {
            for member in record.members.sorted(by: { $0.name < $1.name }) { try write(member) }
        } else {
            for member in record.members { try write(member) }
        }
    }

    private mutating func write(_ member: ParameterRecord.Member) throws {
        if options.nils.areDropped, member.value.isNil { return }
        try check(member.name)
        let length = prefix.count
        path.append(.name(member.name))
        append(member.name)
        try write(member.value)
        path.removeLast()
        prefix.removeLast(prefix.count - length)
    }

    private mutating func write(_ list: ParameterList) throws {
        let isNumbered = list.elements.contains(where: \.isContainer)
        for (index, element) in list.elements.enumerated() {
            let length = prefix.count
            path.append(.element(index, isNumbered: isNumbered))
            try check(element)
            append(index, isNumbered: isNumbered)
            try write(element)
            path.removeLast()
            prefix.removeLast(prefix.count - length)
        }
    }

    private mutating func write(_ node: ParameterNode) throws {
        switch node {
        case .record(let record): try write(record)
        case .list(let list): try write(list)
        default: try writeValue(node)
        }
    }

    private mutating func writeValue(_ node: ParameterNode) throws {
        if listsPairs {
            pairs.append((try name(), node))
            return
        }
        if !output.isEmpty { output.append(UInt8(ascii: "&")) }
        if makesNames { escape.append(try name(), to: &output) } else { output += prefix }
        output.append(UInt8(ascii: "="))
        escape.append(try options.text(of: node, path: keys), to: &output)
    }

    // MARK: Names

    private mutating func append(_ name: String) {
        guard !makesNames else { return }
        guard path.count > 1 else { return escape.append(name, to: &prefix) }
        switch options.nesting {
        case .dots:
            prefix.append(UInt8(ascii: "."))
            escape.append(name, to: &prefix)
        case .brackets, .custom:
            prefix += PercentEncoding.openingBracket
            escape.append(name, to: &prefix)
            prefix += PercentEncoding.closingBracket
        }
    }

    private mutating func append(_ index: Int, isNumbered: Bool) {
        guard !makesNames else { return }
        switch options.arrays {
        case .none where !isNumbered, .custom: return
        case .brackets where !isNumbered: prefix += PercentEncoding.openingBracket + PercentEncoding.closingBracket
        default:
            prefix += PercentEncoding.openingBracket
            prefix += String(index).utf8
            prefix += PercentEncoding.closingBracket
        }
    }

    /// The whole name as text.
    private func name() throws -> String {
        var name = ""
        for (place, segment) in path.enumerated() {
            switch segment {
            case .name(let member) where place == 0: name = member
            case .name(let member): name = options.nesting.name(member, in: name)
            case .element(let index, let isNumbered):
                name = options.arrays.name(of: index, in: name, isNumbered: isNumbered)
            }
        }
        return name
    }

    private var keys: [any CodingKey] {
        path.map { segment in
            switch segment {
            case .name(let name): ParameterKey(name)
            case .element(let index, _): ParameterKey(index: index)
            }
        }
    }

    // MARK: What has no form

    private func check(_ name: String) throws {
        guard !options.acceptsStructuredNames, options.nesting.isStructured(name, isNested: !path.isEmpty) else {
            return
        }
        throw URLEncodedFormEncoder.invalid(
            name, keys + [ParameterKey(name)], "holds characters in its name that nested members are written with")
    }

    /// Checks that an array element writes something, because an element must not be lost.
    private func check(_ element: ParameterNode) throws {
        guard writesNothing(element) else { return }
        let reason = element.isNil ? "is a nil in an array, and those are dropped" : "is an empty element of an array"
        throw URLEncodedFormEncoder.invalid("", keys, reason)
    }

    private func writesNothing(_ node: ParameterNode) -> Bool {
        switch node {
        case .absent, .null: options.nils.areDropped
        case .list(let list): list.elements.isEmpty
        case .record(let record): record.members.allSatisfy { writesNothing($0.value) }
        default: false
        }
    }
}

extension ParameterRecord {
    fileprivate var isSorted: Bool {
        members.indices.dropFirst().allSatisfy { members[$0 - 1].name <= members[$0].name }
    }
}

extension URLEncodedFormEncoder {
    /// Whether a closure makes names.
    fileprivate var makesNames: Bool {
        if case .custom = arrays { return true }
        if case .custom = nesting { return true }
        return false
    }
}

extension URLEncodedFormEncoder.Nesting {
    fileprivate func name(_ member: String, in outer: String) -> String {
        switch self {
        case .brackets: "\(outer)[\(member)]"
        case .dots: "\(outer).\(member)"
        case .custom(let make): make(outer, member)
        }
    }

    /// Whether a decoder would read a part of a name as nesting.
    fileprivate func isStructured(_ name: String, isNested: Bool) -> Bool {
        switch self {
        case .brackets: name.isEmpty && isNested || name.utf8.contains(where: \.isBracket)
        case .dots: name.utf8.contains { $0 == UInt8(ascii: ".") || $0.isBracket }
        case .custom: false
        }
    }
}

extension URLEncodedFormEncoder.Arrays {
    fileprivate func name(of index: Int, in array: String, isNumbered: Bool) -> String {
        switch self {
        case .custom(let make): make(array, index)
        case .none where !isNumbered: array
        case .brackets where !isNumbered: "\(array)[]"
        case .none, .brackets, .indices: "\(array)[\(index)]"
        }
    }
}

extension UInt8 {
    fileprivate var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}
