import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct CharsetTests {
    /// The bytes that a charset leaves undefined, as Python's tables have them.
    private static let undefined: [String: String] = [
        "windows-1250": "81 83 88 90 98", "windows-1251": "98", "windows-1252": "81 8D 8F 90 9D",
        "windows-1253": "81 88 8A 8C 8D 8E 8F 90 98 9A 9C 9D 9E 9F AA D2 FF", "windows-1254": "81 8D 8E 8F 90 9D 9E",
        "windows-1255": "81 8A 8C 8D 8E 8F 90 9A 9C 9D 9E 9F CA D9 DA DB DC DD DE DF FB FC FF", "windows-1256": "",
        "windows-1257": "81 83 88 8A 8C 90 98 9A 9C 9F A1 A5", "windows-1258": "81 8A 8D 8E 8F 90 9A 9D 9E",
        "windows-874":
            "81 82 83 84 86 87 88 89 8A 8B 8C 8D 8E 8F 90 98 99 9A 9B 9C 9D 9E 9F DB DC DD DE FC FD FE FF",
        "koi8-r": "", "koi8-u": "", "ibm866": "", "iso-8859-1": "", "iso-8859-2": "",
        "iso-8859-3": "A5 AE BE C3 D0 E3 F0", "iso-8859-4": "", "iso-8859-5": "",
        "iso-8859-6": """
        A1 A2 A3 A5 A6 A7 A8 A9 AA AB AE AF B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 BA BC BD BE C0 DB DC DD DE DF F3 F4 F5 F6 \
        F7 F8 F9 FA FB FC FD FE FF
        """,
        "iso-8859-7": "AE D2 FF",
        "iso-8859-8": """
        A1 BF C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 CA CB CC CD CE CF D0 D1 D2 D3 D4 D5 D6 D7 D8 D9 DA DB DC DD DE FB FC FF
        """,
        "iso-8859-9": "", "iso-8859-10": "", "iso-8859-11": "DB DC DD DE FC FD FE FF", "iso-8859-13": "",
        "iso-8859-14": "", "iso-8859-15": "", "iso-8859-16": "",
    ]

    @Test(arguments: undefined.keys.sorted())
    func `A byte that a charset leaves undefined is an error, and no other is`(name: String) throws {
        let charset = try #require(Charset(name: name))
        let expected = try #require(Self.undefined[name]).split(separator: " ").map { UInt8($0, radix: 16) }
        let undecodable = (0...0xFF).map { UInt8($0) }.filter { charset.text(of: Data([0x61, $0])) == nil }
        #expect(undecodable == expected)
    }
}
