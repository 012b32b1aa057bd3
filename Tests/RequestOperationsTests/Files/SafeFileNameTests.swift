import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct SafeFileNameTests {
    @Test(arguments: [
        ("a.txt", "a.txt"), ("Résumé (1).pdf", "Résumé (1).pdf"), ("../../etc/passwd", "passwd"),
        (#"C:\Windows\win.ini"#, "win.ini"), ("/etc/", "etc"), (".bashrc", "bashrc"), ("-rf", "rf"),
        ("a\u{0}b\nc", "a_b_c"), ("a<b>:c|d?*\"", "a_b__c_d___"), ("gpj.\u{202E}exe.txt", "gpj.exe.txt"),
        ("con.txt", "_con.txt"), ("CON", "_CON"), ("nul.tar.gz", "_nul.tar.gz"), ("com1", "_com1"),
        ("lpt².log", "_lpt².log"), ("com10", "com10"), ("console.txt", "console.txt"), ("a. . ", "a"),
        ("a\u{2028}b\u{3000}c", "a_b c"), ("u\u{308}", "ü"),
    ])
    func `A name is made safe`(_ suggested: String, _ name: String) {
        #expect(SafeFileName(suggested)?.variant(1) == name)
    }

    @Test(arguments: [
        "x/\u{200D}../\u{200D}../\u{200D}.ssh/\u{200D}keys", "x\u{600}/y", "a/\u{301}keys", "a\\\u{200D}b",
        ".\u{301}hidden", "a" + String(repeating: "\u{301}", count: 300) + ".bashrc",
        "a" + String(repeating: "\u{301}", count: 300), "con" + String(repeating: " ", count: 300) + "x",
        "..\u{200B}/x",
    ])
    func `Marks and invisible characters take no name out of its folder, nor hide it`(_ suggested: String) throws {
        let name = try #require(SafeFileName(suggested)).variant(1)
        #expect(Self.isSafe(name), "\(name.debugDescription)")
    }

    @Test func `Any text becomes a safe name or none`() {
        let alphabet = Array("ab./\\- :con\u{0}\u{301}\u{200D}\u{600}\u{202E}\u{E0020}日.gz".unicodeScalars)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let count = Int.random(in: 0...400, using: &random)
            let scalars = (0..<count).map { _ in alphabet.randomElement(using: &random)! }
            let text = String(String.UnicodeScalarView(scalars))
            guard let name = SafeFileName(text) else { continue }
            #expect(Self.isSafe(name.variant(1)) && Self.isSafe(name.variant(2)), "\(text.debugDescription)")
        }
    }

    private static func isSafe(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        let base = name.unicodeScalars.prefix { $0 != "." }
        return !bytes.isEmpty && bytes.count <= 255 && bytes.first != UInt8(ascii: ".") && !bytes.contains(0)
            && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(UInt8(ascii: "\\"))
            && !["con", "con "].contains(String(base).lowercased())
    }

    @Test(arguments: ["", "..", "../..", "/", "...", " ", "\u{202E}", "- -"])
    func `Nothing may be left of a name`(_ suggested: String) {
        #expect(SafeFileName(suggested) == nil)
    }

    @Test func `A name of 300 bytes is cut in whole characters and keeps its extension`() {
        let name = SafeFileName(String(repeating: "日", count: 98) + ".tar.gz")!
        #expect(name.variant(1).utf8.count <= 240 && name.variant(1).hasSuffix("日.tar.gz"))
        #expect(name.variant(99_999).utf8.count <= 255)
    }

    @Test(arguments: [
        ("a.tar.gz", "a-2.tar.gz"), ("a.txt", "a-2.txt"), ("a", "a-2"), ("data.json.zst", "data-2.json.zst"),
        ("a-1.2.gz", "a-1.2-2.gz"), ("a.b c", "a.b c-2"), ("gz", "gz-2"), ("a.gz", "a-2.gz"),
    ])
    func `The number of a later file stands before the extension`(_ name: String, _ second: String) {
        #expect(SafeFileName(name)?.variant(2) == second)
    }

    @Test(arguments: [
        ("http://a.example/b/c.txt?d=e", "c.txt"), ("http://a.example/b/", "b"), ("http://a.example", "download"),
        ("http://a.example/%2e%2e%2f", "download"), ("http://a.example/x%2Fy%20z", "y z"),
        ("http://a.example/con.txt", "_con.txt"),
    ])
    func `Without a suggestion the URL names the file`(_ url: String, _ name: String) {
        #expect(SafeFileName(of: ResponseHead(status: 200, url: URL(string: url)!)).variant(1) == name)
    }

    @Test func `A suggestion of which nothing is left gives way to the URL`() {
        let head = ResponseHead(
            status: 200, url: URL(string: "http://a.example/b")!,
            fields: [("Content-Disposition", #"attachment; filename="../..""#)])
        #expect(SafeFileName(of: head).variant(1) == "b")
    }
}

@Suite(.timeLimit(.minutes(10))) struct ContentDispositionTests {
    @Test(arguments: [
        ("attachment; filename=a.txt", "a.txt"), (#"attachment; filename="a b.txt""#, "a b.txt"),
        (#"attachment; filename="a\"b.txt""#, #"a"b.txt"#), ("inline;FILENAME = a.txt ;x=y", "a.txt"),
        (#"attachment; filename="a;b.txt"; size=3"#, "a;b.txt"), ("attachment; x; filename=a", "a"),
        // The examples of RFC 6266, section 5.
        ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "€ rates"),
        (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "€ rates"),
        ("attachment; filename*=utf-8'en'a; filename=b", "a"),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
        // What cannot be decoded does not count.
        ("attachment; filename*=UTF-8''%ff; filename=b", "b"),
        ("attachment; filename*=koi8-r''a; filename=b", "b"), ("attachment; filename*=a; filename=b", "b"),
        ("attachment; filename*=iso-8859-1''%A; filename=b", "b"), ("attachment; filename=a; filename=b", "a"),
    ])
    func `The name of a file is read`(_ value: String, _ name: String) {
        #expect(ContentDisposition(value).fileName == name)
    }

    @Test(arguments: ["", "attachment", "attachment;", #"a; filename="b"#, "a; filename", ";;;"])
    func `There may be no name`(_ value: String) {
        #expect(ContentDisposition(value).fileName == nil)
    }
}
