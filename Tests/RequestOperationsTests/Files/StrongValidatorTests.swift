import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct StrongValidatorTests {
    private func validator(_ fields: [(name: String, value: String)]) -> StrongValidator? {
        StrongValidator(ResponseHead(status: 200, url: URL(fileURLWithPath: "/"), fields: fields))
    }

    @Test func `A strong tag is used`() {
        #expect(validator([("ETag", #""a""#)]) == .entityTag(#""a""#))
    }

    @Test(arguments: [#"W/"a""#, "a", "\"", #""a", "b""#, ""])
    func `A tag that is weak or malformed is not used`(_ tag: String) {
        #expect(validator([("ETag", tag)]) == nil)
    }

    @Test func `A date that is a minute older than the response is used`() {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(
            validator([("Last-Modified", modified), ("Date", "Sun, 06 Nov 1994 08:50:37 GMT")]) == .date(modified))
    }

    @Test(arguments: ["Sun, 06 Nov 1994 08:50:36 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "yesterday", nil])
    func `A date that may not tell two states apart is not used`(_ date: String?) {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(validator([("Last-Modified", modified)] + (date.map { [("Date", $0)] } ?? [])) == nil)
    }

    @Test func `A date beside a weak tag is not used`() {
        let fields = [
            ("ETag", #"W/"a""#), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Date", "Mon, 07 Nov 1994 08:49:37 GMT"),
        ]
        #expect(validator(fields) == nil)
    }
}
