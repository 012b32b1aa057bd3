import RequestOperations
import Testing

/// Values that a form gives back, whatever they hold.
@Suite(.timeLimit(.minutes(10))) struct FormRoundTripTests {
    private struct Everything: Codable, Equatable {
        var text: String
        var number: Int
        var double: Double
        var boolean: Bool
        var optional: String?
        var data: Data
        var date: Date
        var texts: [String]
        var nested: Nested
        var list: [Nested]
        var members: [String: String]

        struct Nested: Codable, Equatable {
            var value: String
            var deeper: [[Int]]
            var userIDs: [String: [Bool]]
        }
    }

    private enum Form: CaseIterable {
        case plain, browser, brackets, indices, dots, literal, snake, null

        var encoder: URLEncodedFormEncoder {
            var encoder = self == .browser ? .whatwg : URLEncodedFormEncoder()
            switch self {
            case .plain: break
            // Normalized ones would come back as such.
            case .browser: encoder.lineBreaks = .asGiven
            case .brackets: encoder.arrays = .brackets
            case .indices: encoder.arrays = .indices
            case .dots: encoder.nesting = .dots
            case .literal: encoder.booleans = .literal
            case .snake: encoder.naming = .snakeCase
            case .null: encoder.nils = .null
            }
            return encoder
        }

        var decoder: URLEncodedFormDecoder {
            var decoder = URLEncodedFormDecoder()
            if self == .dots { decoder.nesting = .dots }
            if self == .snake { decoder.naming = .snakeCase }
            if self == .null { decoder.nils = .null }
            return decoder
        }
    }

    private struct Source {
        var texts: AnyText

        // What nesting is written with cannot stand in a name.
        mutating func name() -> String { texts.next(excluding: ["[", "]", "."]) + "n" }

        mutating func list<Element>(_ least: Int = 0, _ make: (inout Source) -> Element) -> [Element] {
            (0..<texts.number(in: least...3)).map { _ in make(&self) }
        }

        mutating func nested() -> Everything.Nested {
            var flags: [String: [Bool]] = [:]
            for name in (list { $0.name() }) { flags[name] = list(1) { $0.texts.boolean() } }
            return Everything.Nested(
                value: texts.next(), deeper: list { $0.list(1) { $0.texts.number(in: -1000...1000) } }, userIDs: flags)
        }

        mutating func everything(nullIsNil: Bool) -> Everything {
            var optional = texts.boolean() ? texts.next() : nil
            if nullIsNil, optional == "null" { optional = nil }
            var members: [String: String] = [:]
            for name in (list { $0.name() }) { members[name] = texts.next() }
            return Everything(
                text: texts.next(), number: texts.number(in: .min ... .max), double: texts.double(),
                boolean: texts.boolean(), optional: optional, data: Data(texts.next().utf8),
                date: Date(timeIntervalSinceReferenceDate: texts.double()), texts: list { $0.texts.next() },
                nested: nested(), list: list { $0.nested() }, members: members)
        }
    }

    @Test(arguments: Form.allCases) private func `Any value comes back`(_ form: Form) throws {
        for seed in 0..<60 {
            var source = Source(texts: AnyText(seed: UInt64(seed)))
            let value = source.everything(nullIsNil: form == .null)
            let text = try form.encoder.encode(value)
            #expect(try form.decoder.decode(Everything.self, from: text) == value, "seed \(seed): \(text)")
        }
    }

    @Test(arguments: [false, true]) func `Another parser reads the same pairs`(isOfBrowsers: Bool) async throws {
        var texts = AnyText(seed: 7)
        let names = (0..<300).map { "\($0)" + texts.next(excluding: ["[", "]"]) }
        let pairs = Dictionary(uniqueKeysWithValues: names.map { ($0, texts.next()) })
        let encoder = isOfBrowsers ? URLEncodedFormEncoder.whatwg : URLEncodedFormEncoder()
        let read = try await Program.python(
            .readPairs, input: Data(try encoder.encode(pairs).utf8), as: [String: String].self)
        // Compared by scalars: characters that mean the same are not the same.
        func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }
        func sent(_ text: String) -> [Unicode.Scalar] {
            scalars(isOfBrowsers ? text.replacing(/\r\n|\r|\n/.matchingSemantics(.unicodeScalar), with: "\r\n") : text)
        }
        let found = Dictionary(uniqueKeysWithValues: read.map { (scalars($0), scalars($1)) })
        #expect(found == Dictionary(uniqueKeysWithValues: pairs.map { (sent($0), sent($1)) }))
    }

    @Test func `The form of another encoder is read`() async throws {
        var texts = AnyText(seed: 8)
        let pairs = Dictionary(uniqueKeysWithValues: (0..<100).map { ("n\($0)", texts.next()) })
        let form = try await Program.run(
            "python3", [PythonScript.writePairs.path], input: try JSONEncoder().encode(pairs))
        #expect(try URLEncodedFormDecoder().decode([String: String].self, from: form) == pairs)
    }
}
