import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct OutcomeFormatTests {
    @Test func `A line of text has status, URL, bytes, attempts, seconds and ending`() {
        #expect(OutcomeFormat.text.line(outcome()) == "200 http://a.example/ 12 2 0.001234 ok\n")
    }

    @Test func `A failure after a good status does not read as a success`() {
        let line = OutcomeFormat.text.line(outcome(ending: .failed(.init(code: "truncatedBody", message: ""))))
        #expect(line == "200 http://a.example/ 12 2 0.001234 failed:truncatedBody\n")
    }

    @Test func `A status that is missing is printed as a dash`() {
        #expect(OutcomeFormat.text.line(outcome(status: nil, ending: .skipped)).hasPrefix("- http"))
        #expect(OutcomeFormat.text.line(outcome(status: nil, ending: .skipped)).hasSuffix(" skipped\n"))
    }

    @Test func `A JSON line has the eight keys`() throws {
        let line = OutcomeFormat.json.line(outcome(file: "a.txt"))
        #expect(
            line
                == #"{"id":3,"url":"http://a.example/","status":200,"bytes":12,"attempts":2,"seconds":0.001234,"#
                + #""file":"a.txt","error":null}"# + "\n")
    }

    @Test func `A failure is an object of code and message`() throws {
        let failure = Outcome.Failure(code: "timedOut", message: "a \"b\"\n\\ \u{2028}é\u{01}")
        let line = OutcomeFormat.json.line(outcome(status: nil, ending: .failed(failure)))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["status"] is NSNull)
        #expect(object["error"] as? [String: String] == ["code": "timedOut", "message": failure.message])
        #expect(line.dropLast().allSatisfy { !$0.isNewline })
    }

    @Test(arguments: [(0, "0.000000"), (999, "0.000999"), (61_000_001, "61.000001")])
    func `Seconds have six decimals`(_ microseconds: Int, _ text: String) {
        #expect(Duration.microseconds(microseconds).decimalSeconds == text)
    }

    private func outcome(
        status: Int? = 200, ending: Outcome.Ending = .succeeded, file: String? = nil
    ) -> Outcome {
        Outcome(
            id: 3, url: "http://a.example/", status: status, bytes: 12, attempts: 2, seconds: .microseconds(1234),
            ending: ending, file: file)
    }
}
