import Testing

@testable import RequestOperations

@Suite struct SafeFileNameTests {
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
