import Testing

@testable import RequestOperations

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
