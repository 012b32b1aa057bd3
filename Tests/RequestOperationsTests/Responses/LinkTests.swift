import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct LinkTests {
    private func head(_ values: String...) throws -> ResponseHead {
        ResponseHead(
            status: 200, url: try #require(URL(string: "http://a.example/list/page?n=1")),
            fields: values.map { (name: "link", value: $0) })
    }

    private func target(_ value: String, _ relation: String = "next") throws -> String? {
        try head(value).link(relation)?.target.absoluteString
    }

    @Test(arguments: [
        (#"<http://a.example/2>; rel="next""#, "http://a.example/2"),
        ("<?n=2>;rel=next", "http://a.example/list/page?n=2"),
        ("</2> ; rel = \"prev NEXT\"", "http://a.example/2"), ("<2>; rel=next; rel=prev", "http://a.example/list/2"),
        (#"<1>; rel="prev", <2>; rel="next""#, "http://a.example/list/2"),
        (#", ,<a,b;c>; title="x, <y>; rel=\"next\""; rel=next,"#, "http://a.example/list/a,b;c"),
        ("<>; rel=next", "http://a.example/list/page?n=1"), ("<2>; rel=next; crossorigin", "http://a.example/list/2"),
        ("</items?page[number]=2&q=a%20b>; rel=next", "http://a.example/items?page%5Bnumber%5D=2&q=a%20b"),
        ("<a[1]/b%20c#x[2]>; rel=next", "http://a.example/list/a%5B1%5D/b%20c#x%5B2%5D"),
        ("<//[::1]:80/b c>; rel=next", "http://[::1]:80/b%20c"),
        ("<2>; REL=next", "http://a.example/list/2"), (#"<2>; title="a"; rel=next; ; "#, "http://a.example/list/2"),
    ])
    func `A link is read`(_ value: String, _ expected: String) throws {
        #expect(try target(value) == expected)
    }

    @Test(arguments: [
        "", "next", "2; rel=next", "<2; rel=next", #"<2>; rel="next"#, "<2>", "<2> rel=next",
        #"<2>; rel=next; anchor="/x""#,
        "<2>; rel=nextpage", #"<2>; rev="next""#,
    ])
    func `Anything else is none`(_ value: String) throws {
        #expect(try target(value) == nil)
    }

    @Test func `Several fields are one list`() throws {
        let links = try head("<1>; rel=prev", "broken", "<2>; rel=next, <3>").links
        #expect(links.map(\.target.lastPathComponent) == ["1", "2", "3"])
        #expect(links.map(\.relations) == [["prev"], ["next"], []])
    }

    @Test func `Parameters are read and decoded`() throws {
        let link = try #require(
            try head(#"<2>; rel=next; title="a\"b"; Title=c; hreflang=de; title*=UTF-8'de'n%c3%a4chstes"#).links.first)
        #expect(link.parameters["title"] == "nächstes" && link.parameters["hreflang"] == "de")
    }
}
