import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct OptionValueTests {
    @Test(arguments: [("30", 30.0), ("0.25", 0.25), ("1e-3", 0.001), ("31536000", 31_536_000)])
    func `Times may have a fraction`(_ text: String, _ seconds: Double) throws {
        #expect(try OptionValue.seconds(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "0", "-1", "nan", "NaN", "inf", "infinity", "-inf", "1e99", "1e400", "0x10", "5s", " 5", "31536001",
    ])
    func `A time that is none, negative or absurd is refused`(_ text: String) {
        #expect(throws: UnusableInput.self) { try OptionValue.seconds(text) }
    }

    @Test(arguments: ["0", "-1", "11", "1.5", "", "x", "99999999999999999999"])
    func `A number outside its bounds is refused`(_ text: String) {
        #expect(throws: UnusableInput.self) { try OptionValue.count(text, in: 1...10) }
    }

    @Test func `A pin is a SHA-256 in Base64, with its mark`() throws {
        let pin = "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="
        #expect(try OptionValue.pin(pin) == ServerPin(pin))
        #expect(try OptionValue.pin("sha256/" + pin.dropFirst(8)) == ServerPin(pin))
        for text in ["", "sha256//", "sha256//YhKJ", "\(pin);\(pin)", "key.pem"] {
            #expect(throws: UnusableInput.self) { try OptionValue.pin(text) }
        }
    }

    @Test func `A body is text, or a file after an at sign`() throws {
        guard case .data(let data) = try OptionValue.body("a@b") else { return #expect(Bool(false), "not data") }
        #expect(data == Data("a@b".utf8))
        let file = try TemporaryPath(content: "x")
        guard case .file(let url) = try OptionValue.body("@" + file.path) else {
            return #expect(Bool(false), "not a file")
        }
        #expect(url.path == file.path)
    }

    @Test(arguments: ["@", "@/no/such/file", "@/dev/null", "@/tmp"])
    func `A body that cannot be read is refused`(_ text: String) {
        #expect(throws: UnusableInput.self) { try OptionValue.body(text) }
    }
}
