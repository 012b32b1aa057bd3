import Foundation

@testable import RequestOperations

/// The parsers that read most of what servers send. The environment variable `FUZZED_PARSER` names one.
private enum Parser: String, CaseIterable {
    case head, disposition, link, xml, events

    static let chosen: Parser = {
        let name = ProcessInfo.processInfo.environment["FUZZED_PARSER"] ?? ""
        guard let parser = Parser(rawValue: name) else {
            fatalError("FUZZED_PARSER is none of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        return parser
    }()

    private static let url = URL(string: "https://a.example/b/c?d=e")!

    func parse(_ input: Data) throws {
        let text = String(decoding: input, as: UTF8.self)
        switch self {
        case .head:
            let head = ResponseHead(
                status: 200, url: Self.url, block: HeaderBlock(Array(input)), version: .http1_1)
            _ = (head.fields, head.field("A"))
        case .disposition:
            let fields = [(name: "Content-Disposition", value: text)]
            let name = SafeFileName(of: ResponseHead(status: 200, url: Self.url, fields: fields)).variant(1)
            precondition(!name.isEmpty && !name.hasPrefix(".") && !name.unicodeScalars.contains("/"))
        case .link:
            var parser = LinkParser(text, base: Self.url)
            _ = parser.links()
        case .xml: _ = try XMLTree(parsing: input)
        case .events:
            var parser = ServerSentEventParser(lastEventID: "", maximumSize: 1024)
            _ = parser.parse(input)
        }
    }
}

/// What libFuzzer calls for each input. A trap ends the process, and libFuzzer then keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // What a parser throws is an answer like any other.
    try? Parser.chosen.parse(Data(bytes: bytes, count: count))
    return 0
}
