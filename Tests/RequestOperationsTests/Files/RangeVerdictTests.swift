import Testing

@testable import RequestOperations

/// Every case of RFC 9110, section 14, for a client that has 5 of 10 bytes.
@Suite(.timeLimit(.minutes(10))) struct RangeVerdictTests {
    private let byTag = RangeRequest(offset: 5, validator: .entityTag(#""v1""#), total: 10)
    private let byDate = RangeRequest(offset: 5, validator: .date("Sun, 06 Nov 1994 08:49:37 GMT"), total: 10)

    private func head(_ status: Int, _ fields: [(String, String)]) -> ResponseHead {
        ResponseHead(
            status: status, url: URL(fileURLWithPath: "/"), fields: fields.map { (name: $0.0, value: $0.1) })
    }

    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let status: Int
        let fields: [(String, String)]
        let verdict: RangeVerdict

        init(_ description: String, _ status: Int, _ fields: [(String, String)], _ verdict: RangeVerdict) {
            self.description = description
            self.status = status
            self.fields = fields
            self.verdict = verdict
        }
    }

    private static let tag = ("ETag", #""v1""#)
    private static let range = ("Content-Range", "bytes 5-9/10")

    @Test(arguments: [
        Case("206 with the rest", 206, [tag, range], .rest(total: 10)),
        Case("206 with a beginning of the rest", 206, [tag, ("Content-Range", "bytes 5-7/10")], .rest(total: 10)),
        Case("206 of an unknown total", 206, [tag, ("Content-Range", "bytes 5-9/*")], .rest(total: 10)),
        Case("206 in the identity coding", 206, [tag, range, ("Content-Encoding", "identity")], .rest(total: 10)),
        Case("206 from an earlier byte", 206, [tag, ("Content-Range", "bytes 4-9/10")], .askForWhole),
        Case("206 from a later byte", 206, [tag, ("Content-Range", "bytes 6-9/10")], .askForWhole),
        Case("206 of another length", 206, [tag, ("Content-Range", "bytes 5-10/11")], .askForWhole),
        Case("206 of another state", 206, [("ETag", #""v2""#), range], .askForWhole),
        Case("206 with the weak form of the tag", 206, [("ETag", #"W/"v1""#), range], .askForWhole),
        Case("206 without a tag", 206, [range], .askForWhole),
        Case("206 without a range", 206, [tag], .askForWhole),
        Case("206 with the length of its range", 206, [tag, range, ("Content-Length", "5")], .rest(total: 10)),
        Case("206 with the length of the whole", 206, [tag, range, ("Content-Length", "10")], .askForWhole),
        Case(
            "206 of more than there can be", 206,
            [tag, ("Content-Range", "bytes 5-9223372036854775807/*"), ("Content-Length", "0")], .askForWhole),
        Case("206 with an unreadable range", 206, [tag, ("Content-Range", "bytes 5")], .askForWhole),
        Case(
            "206 of several parts", 206, [tag, ("Content-Type", "multipart/byteranges; boundary=x")], .askForWhole),
        Case("206 of a compressed form", 206, [tag, range, ("Content-Encoding", "gzip")], .askForWhole),
        Case("200 with the same tag", 200, [tag], .whole),
        Case("200 with another tag", 200, [("ETag", #""v2""#)], .whole),
        Case("203", 203, [], .whole),
        Case("416 of the length that is there", 416, [("Content-Range", "bytes */5")], .askForWhole),
        Case("416 of another length", 416, [("Content-Range", "bytes */4")], .askForWhole),
        Case("416 without a length", 416, [], .askForWhole),
        Case("404", 404, [], .notTheFile), Case("503", 503, [], .notTheFile),
        Case("302", 302, [], .notTheFile), Case("304", 304, [tag], .notTheFile),
        Case("412", 412, [], .notTheFile),
    ])
    func `The response to a range request means`(_ row: Case) {
        #expect(RangeVerdict(head(row.status, row.fields), to: byTag) == row.verdict)
    }

    @Test func `A part of which nobody knows the total cannot be told from the whole`() {
        let asked = RangeRequest(offset: 5, validator: .entityTag(#""v1""#), total: nil)
        let part = head(206, [Self.tag, ("Content-Range", "bytes 5-9/*")])
        #expect(RangeVerdict(part, to: asked) == .askForWhole)
        #expect(RangeVerdict(head(206, [Self.tag, Self.range]), to: asked) == .rest(total: 10))
    }

    @Test(
        arguments: [Int64?.none, 5],
        [
            Case("416 of that length", 416, [("Content-Range", "bytes */5")], .complete),
            Case("416 of that length and state", 416, [tag, ("Content-Range", "bytes */5")], .complete),
            Case(
                "416 of another state", 416, [("ETag", #""v2""#), ("Content-Range", "bytes */5")], .askForWhole),
            Case("416 of a shorter length", 416, [("Content-Range", "bytes */4")], .askForWhole),
            Case("416 without a length", 416, [], .askForWhole),
        ])
    func `If all bytes or an unknown number of them should be there`(_ total: Int64?, _ row: Case) {
        let asked = RangeRequest(offset: 5, validator: .entityTag(#""v1""#), total: total)
        #expect(RangeVerdict(head(row.status, row.fields), to: asked) == row.verdict)
    }

    @Test(arguments: [
        Case("206 without a date is the rest", 206, [range], .rest(total: 10)),
        Case(
            "206 with the date is the rest", 206, [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), range],
            .rest(total: 10)),
        Case(
            "206 with another date is not", 206, [("Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT"), range],
            .askForWhole),
    ])
    func `With a date as validator`(_ row: Case) {
        #expect(RangeVerdict(head(row.status, row.fields), to: byDate) == row.verdict)
    }

    @Test(arguments: [
        Case("200", 200, [tag], .whole), Case("204", 204, [], .whole), Case("no HTTP", 0, [], .whole),
        Case("206", 206, [tag, range], .unaskedPart), Case("416", 416, [], .notTheFile),
        Case("404", 404, [], .notTheFile),
    ])
    func `The response to a request without a range means`(_ row: Case) {
        #expect(RangeVerdict(head(row.status, row.fields), to: nil) == row.verdict)
    }

    @Test func `A part that the caller asks for is the file`() {
        #expect(RangeVerdict(head(206, [Self.range]), to: nil, callerAsksForRange: true) == .whole)
    }

    @Test func `A range request asks for the rest under the condition of the validator`() {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        byTag.ask(in: &request)
        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=5-")
        #expect(request.value(forHTTPHeaderField: "If-Range") == #""v1""#)
    }

    @Test(arguments: [
        Case("206 with the part", 206, [tag, ("Content-Range", "bytes 0-4/10")], .beginning(total: 10)),
        Case("206 with less", 206, [tag, ("Content-Range", "bytes 0-2/10")], .beginning(total: 10)),
        Case("206 with all of it", 206, [tag, ("Content-Range", "bytes 0-3/4")], .beginning(total: 4)),
        Case("206 with all of it without a tag", 206, [("Content-Range", "bytes 0-3/4")], .beginning(total: 4)),
        Case("206 with more", 206, [tag, ("Content-Range", "bytes 0-5/10")], .askForWhole),
        Case("206 without a tag", 206, [("Content-Range", "bytes 0-4/10")], .askForWhole),
        Case(
            "206 with a weak tag", 206, [("ETag", #"W/"v1""#), ("Content-Range", "bytes 0-4/10")], .askForWhole),
        Case("206 of an unknown total", 206, [tag, ("Content-Range", "bytes 0-4/*")], .askForWhole),
        Case("200", 200, [], .whole),
        Case("416 of an empty file", 416, [("Content-Range", "bytes */0")], .askForWhole),
    ])
    func `The response to a request for the first part means`(_ row: Case) {
        let asked = RangeRequest(offset: 0, validator: nil, total: nil, length: 5)
        #expect(RangeVerdict(head(row.status, row.fields), to: asked) == row.verdict)
    }

    @Test func `A request for a part names its last byte, and its condition only if there is one`() {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        RangeRequest(offset: 0, validator: nil, total: nil, length: 5).ask(in: &request)
        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=0-4")
        #expect(request.value(forHTTPHeaderField: "If-Range") == nil)
        RangeRequest(offset: 5, validator: .entityTag(#""v1""#), total: 10, length: 2).ask(in: &request)
        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=5-6")
        #expect(request.value(forHTTPHeaderField: "If-Range") == #""v1""#)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ContentRangeTests {
    @Test(arguments: [
        ("bytes 0-0/1", ContentRange.bytes(0...0, total: 1)), ("bytes 5-9/10", .bytes(5...9, total: 10)),
        ("bytes 5-9/*", .bytes(5...9, total: nil)), ("bytes */10", .unsatisfied(total: 10)),
        ("Bytes  5-9/10", .bytes(5...9, total: 10)),
    ])
    func `A range is read`(_ value: String, _ range: ContentRange) {
        #expect(ContentRange(value) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes -5-9/10", "bytes +5-9/10", "bytes */*",
        "items 5-9/10", "bytes 5-9/10 11", "bytes 5-9/x", "bytes 5-99999999999999999999/*",
    ])
    func `What is no range of bytes is not used`(_ value: String) {
        #expect(ContentRange(value) == nil)
    }
}
