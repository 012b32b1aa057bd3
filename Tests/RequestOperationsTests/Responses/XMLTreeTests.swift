import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct XMLTreeTests {
    private func tree(_ text: String) throws -> XMLTree {
        try XMLTree(parsing: Data(text.utf8))
    }

    @Test func `Elements attributes and text are read`() throws {
        let tree = try tree(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <a:feed xmlns:a="urn:a" id="7"><entry><title>One &amp; two</title></entry><!-- c --><entry/>x<![CDATA[<y>]]></a:feed>
            """)
        #expect(tree.name == "a:feed" && tree.attributes["id"] == "7" && tree.children.count == 2)
        #expect(tree.children("entry").first?.child("title")?.text == "One & two")
        #expect(tree.text == "One & twox<y>" && tree.content.last == .text("x<y>"))
    }

    @Test(arguments: ["", "x", "<a>", "<a></b>", "<a/><b/>", "<a>\u{0}</a>", "<a b=c/>"])
    func `What is no document is an error`(_ text: String) {
        #expect(throws: (any Error).self) { try tree(text) }
    }

    /// Why a document cannot be read.
    private func reason(_ document: Data) -> String? {
        let error = #expect(throws: RequestError.self) { try XMLTree(parsing: document) }
        return error?.code == .undecodable ? error?.reason : nil
    }

    @Test(arguments: ["<?x\u{ED}l?><a/>", "<\u{ED}/>", "<a \u{ED}=\"b\"/>", "<a>\u{ED}</a>", "<!--\u{ED}--><a/>"])
    func `Bytes that are not valid in the encoding are an error and no trap`(_ text: String) throws {
        // As ISO 8859-1, which is not valid as UTF-8.
        let bytes = try #require(text.data(using: .isoLatin1))
        #expect(reason(bytes)?.contains("encoding") == true)
        let declared = Data(#"<?xml version="1.0" encoding="ISO-8859-1"?>"#.utf8) + bytes
        #expect(throws: Never.self) { try XMLTree(parsing: declared) }
        let unknown = Data("<?xml version='1.0' encoding='no-such'?><a/>".utf8)
        #expect(reason(unknown)?.contains("encoding") == true)
    }

    @Test(arguments: [
        "<?a?><r>1</r>", "<r><?a?>1</r>", "<r>1</r><?a?>", "<?xml version=\"1.0\"?><?a b?><r>1<?c?></r>",
    ]) func `Processing instructions are left out`(_ text: String) throws {
        #expect(try tree(text) == XMLTree(parsing: Data("<r>1</r>".utf8)))
    }

    @Test(arguments: ["<<?a?>?b?><r/>", "<r><<?a?><?b?>?c?></r>", "<<?a?>!DOCTYPE r [<!ENTITY x \"y\">]><r>&x;</r>"])
    func `No instruction or document type comes of what is left out`(_ text: String) {
        #expect(reason(Data(text.utf8))?.contains("complete") == true)
    }

    @Test func `What looks like an instruction in a comment or a CDATA section is none`() throws {
        #expect(try tree("<r><!-- <?a?> --><![CDATA[<?b?>]]></r>").text == "<?b?>")
        #expect(throws: (any Error).self) { try tree("<r>1<?a</r>") }
    }

    @Test func `One that is nested too deeply is an error`() {
        let depth = 5000
        let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        #expect(throws: (any Error).self) { try tree(text) }
    }

    @Test func `Entities of files are not loaded`() {
        let text = #"<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>"#
        let read = try? tree(text)
        #expect(read?.text.contains("root") != true)
    }

    @Test(arguments: [
        #"<!DOCTYPE r [<!ENTITY a "xyz">]><r>1&a;2</r>"#, #"<?xml version="1.0"?><!-- [ --><!DOCTYPE r [ ]><r/>"#,
        #"<!DOCTYPE r SYSTEM "a>b" [<!ENTITY a "xyz">]><r>1&a;2</r>"#,
    ])
    func `A document with entities of its own is refused`(_ text: String) throws {
        for encoding in [String.Encoding.utf8, .utf16] {
            #expect(try reason(#require(text.data(using: encoding)))?.contains("declarations") == true)
        }
    }

    @Test func `A document type without declarations is no matter`() throws {
        #expect(try tree(#"<!DOCTYPE r PUBLIC "p" '[u>'><r>[t]</r>"#).text == "[t]")
        #expect(try tree("<r><![CDATA[<!DOCTYPE r [ ]>]]></r>").text == "<!DOCTYPE r [ ]>")
    }

    @Test func `An entity that is not known is an error and not lost`() {
        #expect(throws: (any Error).self) { try tree(#"<!DOCTYPE r SYSTEM "u"><r>1&nbsp;2</r>"#) }
        #expect(throws: (any Error).self) { try tree("<r>1&nbsp;2</r>") }
    }

    @Test func `A prefix need not be declared`() throws {
        let tree = try tree(#"<x:a y:b="1"><x:c/></x:a>"#)
        #expect(tree.name == "x:a" && tree.attributes["y:b"] == "1" && tree.child("x:c") != nil)
    }

    @Test(arguments: [
        ("<a>\u{E9}</a>", "application/xml; charset=ISO-8859-1"),
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>\u{E9}</a>", "text/xml; charset=\"iso-8859-1\""),
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\u{E9}</a>", "application/xml"),
    ])
    func `The charset of the response goes before that of the document`(_ text: String, _ type: String) async throws {
        let head = ResponseHead(
            status: 200, url: try #require(URL(string: "http://a.example")),
            fields: [(name: "Content-Type", value: type)])
        let body = try #require(text.data(using: .isoLatin1))
        #expect(try await ResponseDecoder.xml.decode(TransportResponse(head: head, body: body)).text == "\u{E9}")
    }

    @Test func `A mark goes before the charset`() async throws {
        let head = ResponseHead(
            status: 200, url: try #require(URL(string: "http://a.example")),
            fields: [(name: "Content-Type", value: "text/xml; charset=iso-8859-1")])
        let response = TransportResponse(head: head, body: Data("\u{FEFF}<a>\u{E9}</a>".utf8))
        #expect(try await ResponseDecoder.xml.decode(response).text == "\u{E9}")
    }

    @Test func `A body that went elsewhere is an error and not empty`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .body(Data("<a>t</a>".utf8), contentType: "application/xml"))
        let path = TemporaryPath()
        let operation = DownloadingOperation(URLRequest(url: server.url), decoder: .xml, file: path.url)
        #expect((await failure(of: operation) as? RequestError)?.code == .undecodable)
        let form = DownloadingOperation(
            URLRequest(url: server.url), decoder: .form([String: String].self), file: path.url)
        #expect((await failure(of: form) as? RequestError)?.code == .undecodable)
    }

    @Test func `A response is decoded`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .body(Data("<a>t</a>".utf8), contentType: "application/xml"), .empty(200))
        #expect(try await run(URLRequestOperation(URLRequest(url: server.url), decoder: .xml)).text == "t")
        let error = await failure(of: URLRequestOperation(URLRequest(url: server.url), decoder: .xml)) as? RequestError
        #expect(error?.code == .emptyBody)
    }
}

/// Writes the response to a file.
// Unchecked as its superclass is: its own state never changes.
private final class DownloadingOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    private let file: URL

    init(_ request: URLRequest, decoder: ResponseDecoder<Value>, file: URL) {
        self.file = file
        super.init(request, decoder: decoder, configuration: RequestConfiguration())
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        .download(request, to: file)
    }
}
