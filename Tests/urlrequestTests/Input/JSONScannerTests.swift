import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct JSONScannerTests {
    @Test(arguments: [
        "{}", "[]", #"{"a":1}"#, #"{"a":[1,2,{"b":null}],"c":true,"d":false}"#, #"[-0, 0.5, 1e5, 1E-2, -12.25e+3]"#,
        #"["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"]"#, " [ 1 , 2 ] ", "[\"é😀\"]", #"{"":""}"#,
        "", "{", "[", #"{"a"}"#, #"{"a":}"#, "{'a':1}", "{a:1}", "[,1]", "[1 2]",
        "[1] x", "[+1]", "[.5]", "[1.]", "[1e]", "[--1]", "[nul]", "[truee]", #"["\x"]"#,
        #"["\u12"]"#, #"["\u12G4"]"#, #"["open]"#, "[\"a\nb\"]", "[\"a\u{01}b\"]", "]", "}", #"{"a":1 "b":2}"#,
        "[Infinity]", "[NaN]", "[0x10]",
    ])
    func `It accepts what Foundation's parser accepts, and refuses what that refuses`(_ text: String) throws {
        let foundation = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(isJSON(text) == (foundation != nil))
    }

    @Test(arguments: [
        #""\"\\\/\b\f\n\r\t""#, #""\u00e9\u20AC""#, #""\ud83d\ude00 x""#, #""plain é 😀""#, #""""#,
    ])
    func `Escapes of strings are decoded as Foundation decodes them`(_ text: String) throws {
        var scanner = JSONScanner(Array(text.utf8)[...])
        let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? String
        #expect(try scanner.string() == expected)
    }

    @Test(arguments: [#"["\ud83d"]"#, #"["\ude00"]"#, #"["\ud83dx"]"#, #"["\ud83d\u0041"]"#, #"["\ud83d\n"]"#])
    func `Half a surrogate pair is refused, since it is no text`(_ text: String) {
        #expect(!isJSON(text))
    }

    @Test(arguments: ["[01]", "[1,]", #"{"a":1,}"#])
    func `What Foundation's parser takes though JSON has no such thing is refused`(_ text: String) {
        #expect(!isJSON(text))
    }

    @Test func `The text of a value is handed out as it stands`() throws {
        var scanner = JSONScanner(Array(#"  {"b" : 1.0, "a":[1e400, 12345678901234567890]}  "#.utf8)[...])
        let text = String(decoding: try scanner.value(), as: UTF8.self)
        #expect(text == #"{"b" : 1.0, "a":[1e400, 12345678901234567890]}"#)
    }

    @Test func `Nesting beyond 512 levels is refused`() {
        #expect(isJSON(String(repeating: "[", count: 512) + String(repeating: "]", count: 512)))
        #expect(!isJSON(String(repeating: "[", count: 513) + String(repeating: "]", count: 513)))
        #expect(!isJSON(String(repeating: "[", count: 1_000_000)))
    }

    private func isJSON(_ text: String) -> Bool {
        var scanner = JSONScanner(Array(text.utf8)[...])
        do {
            _ = try scanner.value()
            try scanner.end()
            return true
        } catch {
            return false
        }
    }
}
