import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLEncodedFormDecoderTests {
    private func decode<Value: Decodable>(
        _ form: String, as type: Value.Type = Value.self, _ change: (inout URLEncodedFormDecoder) -> Void = { _ in }
    ) throws -> Value {
        var decoder = URLEncodedFormDecoder()
        change(&decoder)
        return try decoder.decode(type, from: form)
    }

    @Test func `Escapes and plus are text`() throws {
        #expect(try decode("a%26b=c%3Dd+e%2B") == ["a&b": "c=d e+"])
    }

    @Test func `A sign that begins no escape stands for itself`() throws {
        #expect(try decode("a=100%&b=%zz") == ["a": "100%", "b": "%zz"])
    }

    @Test func `Empty pairs are none`() throws {
        #expect(try decode("&&a=1&") == ["a": 1])
    }

    @Test func `A name without a sign has an empty value`() throws {
        #expect(try decode("a") == ["a": ""])
    }

    @Test func `Bytes that are no UTF8 are an error`() {
        #expect(throws: DecodingError.self) { try decode("a=%FF", as: [String: String].self) }
    }

    @Test(arguments: ["a=1&a=2", "a[]=1&a[]=2", "a[1]=2&a[0]=1", "a%5B0%5D=1&a%5B1%5D=2", "a[7]=1&a[10]=2"])
    func `An array has any spelling`(_ form: String) throws {
        #expect(try decode(form) == ["a": [1, 2]])
    }

    @Test func `Members are nested`() throws {
        #expect(try decode("a[b][c]=1") == ["a": ["b": ["c": 1]]])
        #expect(try decode("a.b.c=1") { $0.nesting = .dots } == ["a": ["b": ["c": 1]]])
        #expect(try decode("a.b[0].c=1") { $0.nesting = .dots } == ["a": ["b": [["c": 1]]]])
    }

    @Test func `Without nesting a name is one`() throws {
        #expect(try decode("a[b]=1") { $0.nesting = .none } == ["a[b]": 1])
    }

    @Test func `Brackets that do not match are a part of the name`() throws {
        #expect(try decode("a[b=1&c]=2&d[e]f=3") == ["a[b": 1, "c]": 2, "d[e]f": 3])
    }

    private struct Optionals: Decodable, Equatable {
        var a: String?
        var b: [Int]?
        var c: [Int]
    }

    @Test func `What is not there is nil or empty`() throws {
        #expect(try decode("") == Optionals(a: nil, b: nil, c: []))
    }

    @Test func `What is not there is an error that names it`() {
        struct Needed: Decodable { var name: String }
        #expect { try decode("", as: Needed.self) } throws: { "\($0)".contains("name") }
    }

    @Test func `Nil is empty or null`() throws {
        #expect(try decode("a=&c=1") { $0.nils = .empty } == Optionals(a: nil, b: nil, c: [1]))
        #expect(try decode("a=null&c=1") { $0.nils = .null } == Optionals(a: nil, b: nil, c: [1]))
    }

    @Test func `Several values are not one`() {
        #expect(throws: DecodingError.self) { try decode("a=1&a=2", as: [String: Int].self) }
    }

    @Test(arguments: ["a=x", "a=", "a=1.5", "a=99999999999999999999"])
    func `What is no number is an error`(_ form: String) {
        #expect(throws: DecodingError.self) { try decode(form, as: [String: Int].self) }
    }

    @Test func `A decimal is the whole text`() {
        #expect(throws: DecodingError.self) { try decode("a=1x", as: [String: Decimal].self) }
    }

    @Test func `Dates and data have any form`() throws {
        let date = Date(timeIntervalSinceReferenceDate: 123)
        #expect(try decode("a=123.0") == ["a": date])
        #expect(try decode("a=978307323") { $0.dates = .secondsSince1970 } == ["a": date])
        #expect(try decode("a=978307323000") { $0.dates = .millisecondsSince1970 } == ["a": date])
        #expect(try decode("a=2001-01-01T00:02:03Z") { $0.dates = .iso8601 } == ["a": date])
        #expect(try decode("a=x") { $0.dates = .custom { _ in date } } == ["a": date])
        #expect(try decode("a=%2B/8%3D") == ["a": Data([0xFB, 0xFF])])
        #expect(try decode("a=x") { $0.data = .custom { Data($0.utf8) } } == ["a": Data("x".utf8)])
    }

    @Test func `Names are converted`() throws {
        struct User: Decodable, Equatable { var userID: Int }
        #expect(try decode("user_id=1") { $0.naming = .snakeCase } == User(userID: 1))
    }

    @Test func `The keys of a dictionary are taken as they are`() throws {
        let pairs = ["userID": 1, "user_id": 2]
        #expect(try decode("userID=1&user_id=2") { $0.naming = .snakeCase } == pairs)
    }

    @Test(arguments: ["nan", "inf", "-infinity", "0x1p4", "1e999", " 1", ""])
    func `A number is finite and in decimal digits`(_ text: String) {
        #expect(throws: DecodingError.self) { try decode("a=\(text)", as: [String: Double].self) }
        #expect(throws: DecodingError.self) { try decode("a=\(text)", as: [String: [Float]].self) }
        #expect(throws: DecodingError.self) { try decode("a=\(text)", as: [String: Date].self) }
    }

    @Test func `An optional text that is as nil is written is nil`() throws {
        #expect(try decode("a=") { $0.nils = .empty } == ["a": String?.none])
        #expect(try decode("a=") { $0.nils = .empty } == ["a": ""])
        #expect(try decode("a=null") { $0.nils = .null } == ["a": "null"])
    }

    @Test(arguments: ["[\u{301}a]", "[a]\u{301}", "[\u{FE0F}]", "[a\u{600}]"])
    func `A bracket is one whatever follows it`(_ member: String) throws {
        let name = member.unicodeScalars.filter { $0 != "[" && $0 != "]" }.map(String.init).joined()
        let isOne = member.utf8.last == UInt8(ascii: "]")
        let expected = isOne ? ["k": [name: 1]] : nil
        #expect((try? decode("k\(member)=1", as: [String: [String: Int]].self)) == expected)
    }

    @Test func `A name that is nested without end is an error`() {
        let name = "a" + String(repeating: "[b]", count: 100_000)
        #expect(throws: DecodingError.self) { try decode("\(name)=1", as: [String: String].self) }
    }
}
