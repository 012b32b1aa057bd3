import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct FileNameTests {
    @Test(arguments: [
        ("http://a.example/", "a.example"), ("http://a.example", "a.example"),
        ("http://a.example:8080/b/c.txt", "a.example-8080_b_c.txt"),
        ("http://a.example/b?c=d&e=f", "a.example_b_c=d_e=f"),
        ("http://u:secret@a.example/x", "a.example_x"), ("http://a.example/x#part", "a.example_x"),
        ("http://[::1]:80/x", "___1_-80_x"),
    ])
    func `A name is made of host, port, path and query`(_ url: String, _ name: String) {
        #expect(self.name(url) == name)
    }

    @Test(arguments: [
        "http://a.example/../../etc/passwd", "http://a.example/..%2F..%2Fetc%2Fpasswd",
        "http://a.example/%2e%2e/%2e%2e",
        "http://../x", "http://.hidden/", "http://a.example/a%00b", "http://a.example/a%0Ab",
        "http://a.example/a%5Cb",
        "http://a.example/%E2%80%AEtxt.exe", "http://-rf/", "http://a.example/$(x)`y`;*?",
        "http://a.example/a'b%22c",
        "http://a.example/%FF%FE", "http://a.example/a%20b", "http://%2e%2e%2f/", "http://a.example/...",
    ])
    func `No name leaves its directory, hides, or needs quotes`(_ url: String) throws {
        let name = name(url)
        #expect(!name.isEmpty && !name.hasPrefix(".") && !name.hasPrefix("-"))
        #expect(!name.contains(".."))
        #expect(
            name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789-._=+@,".unicodeScalars.contains($0)
            })
    }

    @Test func `Letters of any script stay, in one normal form`() {
        #expect(name("http://a.example/%C3%BC") == name("http://a.example/u%CC%88"))
        #expect(name("http://a.example/%E6%97%A5") == "a.example_日")
    }

    @Test func `A long name is cut in whole characters and keeps its extension`() {
        let name = name("http://a.example/" + String(repeating: "%E6%97%A5", count: 500) + ".html")
        #expect(name.utf8.count <= 200)
        #expect(name.hasSuffix("日.html"))
    }

    @Test func `The name of an enormous URL has its beginning and its extension`() {
        let name = name("http://a.example/" + String(repeating: "x", count: 8_000_000) + ".html")
        #expect(name == "a.example_" + String(repeating: "x", count: 185) + ".html")
    }

    @Test func `A name that is cut at a dot has no two dots in a row`() {
        // The stem is cut to 196 bytes: the host and 187 more, of which the last is a dot.
        let name = name("http://a.example/" + String(repeating: "x", count: 185) + ".yyyy.txt")
        #expect(name == "a.example_" + String(repeating: "x", count: 185) + ".txt")
    }

    @Test func `A long part after a dot is no extension`() {
        let name = name("http://a.example/x." + String(repeating: "y", count: 500))
        #expect(name.utf8.count == 200)
    }

    @Test func `Of several with one name the later ones get a number before the extension`() {
        let name = FileName(of: URL(string: "http://a.example/b.txt"))
        #expect((1...3).map(name.variant) == ["a.example_b.txt", "a.example_b-2.txt", "a.example_b-3.txt"])
    }

    @Test(arguments: [
        ("http://a.example/", "a.example-2"), ("http://127.0.0.1:80/same", "127.0.0.1-80_same-2"),
        ("http://a.example/b.c?d=e", "a.example_b.c_d=e-2"),
    ])
    func `A dot of the host or the query begins no extension`(_ url: String, _ second: String) {
        #expect(FileName(of: URL(string: url)).variant(2) == second)
    }

    private func name(_ url: String) -> String {
        FileName(of: URL(string: url)).variant(1)
    }
}

@Suite(.timeLimit(.minutes(10))) struct OutputNamesTests {
    @Test func `The bodies of one name are numbered in order`() {
        #expect(names(["b.txt", "b.txt", "c", "b.txt"]) == ["a_b.txt", "a_b-2.txt", "a_c", "a_b-3.txt"])
    }

    @Test func `A name that another one has got with its number is numbered itself`() {
        #expect(names(["b.txt", "b.txt", "b-2.txt", "b.txt"]) == ["a_b.txt", "a_b-2.txt", "a_b-2-2.txt", "a_b-3.txt"])
    }

    @Test func `The same input gives the same names`() {
        let input = ["b", "b-2", "b", "b", "b-3", "b"]
        #expect(names(input) == names(input))
    }

    @Test func `No two of many bodies have one name`() {
        #expect(Set(names(Array(repeating: "b", count: 10_000))).count == 10_000)
    }

    private func names(_ paths: [String]) -> [String] {
        var names = OutputNames()
        return paths.map { names.give(FileName(of: URL(string: "http://a/\($0)"))).text }
    }
}
