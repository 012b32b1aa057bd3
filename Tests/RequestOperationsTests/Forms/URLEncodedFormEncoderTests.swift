import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLEncodedFormEncoderTests {
    private func encode(
        _ value: some Encodable, _ change: (inout URLEncodedFormEncoder) -> Void = { _ in }
    ) throws -> String {
        var encoder = URLEncodedFormEncoder()
        change(&encoder)
        return try encoder.encode(value)
    }

    // MARK: Text

    @Test func `Marks of the format are escaped`() throws {
        #expect(try encode(["a&b": "c=d+e"]) == "a%26b=c%3Dd%2Be")
    }

    @Test func `Unreserved characters stand for themselves`() throws {
        #expect(try encode(["aZ09-._~?/": "aZ09-._~?/"]) == "aZ09-._~?/=aZ09-._~?/")
    }

    @Test func `All other characters are escaped in UTF8`() throws {
        #expect(try encode(["a": ":#[]@!$&'()*+,;="]) == "a=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")
        #expect(try encode(["a": "é用🏳️"]) == "a=%C3%A9%E7%94%A8%F0%9F%8F%B3%EF%B8%8F")
        #expect(try encode(["a": "\r\n\0"]) == "a=%0D%0A%00")
    }

    @Test func `A space is an escape or a plus`() throws {
        #expect(try encode(["a": "b c"]) == "a=b%20c")
        #expect(try encode(["a": "b c+"]) { $0.spaces = .plus } == "a=b+c%2B")
    }

    @Test func `A form of browsers escapes as they do`() throws {
        #expect(try URLEncodedFormEncoder.whatwg.encode(["a": "b c*-._~?/"]) == "a=b+c*-._%7E%3F%2F")
    }

    @Test(arguments: [
        ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("\n", "%0D%0A"), ("\r", "%0D%0A"),
        ("\n\n", "%0D%0A%0D%0A"), ("\r\r", "%0D%0A%0D%0A"), ("\n\r", "%0D%0A%0D%0A"), ("\r\n\n", "%0D%0A%0D%0A"),
        ("\r\r\n", "%0D%0A%0D%0A"), ("a b\n", "a+b%0D%0A"),
    ])
    func `A form of browsers has whole line breaks`(text: String, expected: String) throws {
        #expect(try URLEncodedFormEncoder.whatwg.encode([text: text]) == "\(expected)=\(expected)")
    }

    @Test func `Line breaks are as given otherwise`() throws {
        #expect(try encode(["a": "\n\r"]) == "a=%0A%0D")
    }

    // MARK: Order and names

    private struct Unordered: Encodable {
        var b = 1
        var a = 2
        var c = ["z": 1, "y": 2]
    }

    @Test func `Names are sorted`() throws {
        #expect(try encode(Unordered()) == "a=2&b=1&c%5By%5D=2&c%5Bz%5D=1")
    }

    @Test func `Unsorted names are in the order of the encoding`() throws {
        #expect(try encode(Unordered()) { $0.sortsKeys = false }.hasPrefix("b=1&a=2&c"))
    }

    private struct Named: Encodable {
        var userID = 1
        var explicit = 2
        var nested = Inner()
        var keys = ["someKey": 3]

        struct Inner: Encodable {
            var deepValue = 4
        }

        enum CodingKeys: String, CodingKey {
            case userID
            case explicit = "givenName"
            case nested, keys
        }
    }

    @Test func `Names of properties are converted`() throws {
        #expect(try encode(Named()) { $0.naming = .snakeCase }.contains("user_id=1"))
        #expect(try encode(Named()) { $0.naming = .snakeCase }.contains("nested%5Bdeep_value%5D=4"))
    }

    @Test func `Names of coding keys are not`() throws {
        #expect(try encode(Named()) { $0.naming = .snakeCase }.contains("givenName=2"))
    }

    @Test func `Keys of dictionaries are not`() throws {
        #expect(try encode(Named()) { $0.naming = .snakeCase }.contains("keys%5BsomeKey%5D=3"))
    }

    // MARK: Arrays and nesting

    @Test func `The name of an array is repeated`() throws {
        #expect(try encode(["a": [1, 2]]) == "a=1&a=2")
    }

    @Test func `Elements have numbers`() throws {
        #expect(try encode(["a": Array(0...10)]) { $0.arrays = .indices }.hasSuffix("a%5B9%5D=9&a%5B10%5D=10"))
    }

    @Test func `Elements have brackets`() throws {
        #expect(try encode(["a": [1, 2]]) { $0.arrays = .brackets } == "a%5B%5D=1&a%5B%5D=2")
    }

    @Test func `Elements have names of a closure`() throws {
        #expect(try encode(["a": [1, 2]]) { $0.arrays = .custom { "\($0).\($1 + 1)" } } == "a.1=1&a.2=2")
    }

    @Test func `Elements with members always have numbers`() throws {
        #expect(try encode(["a": [["b": 1], ["b": 2]]]) == "a%5B0%5D%5Bb%5D=1&a%5B1%5D%5Bb%5D=2")
        #expect(try encode(["a": [[1], [2]]]) { $0.arrays = .brackets } == "a%5B0%5D%5B%5D=1&a%5B1%5D%5B%5D=2")
    }

    @Test func `Members are nested by brackets`() throws {
        #expect(try encode(["a": ["b": ["c": 1]]]) == "a%5Bb%5D%5Bc%5D=1")
    }

    @Test func `Members are nested by dots`() throws {
        #expect(try encode(["a": ["b": ["c": 1]]]) { $0.nesting = .dots } == "a.b.c=1")
    }

    @Test func `Members are nested by a closure`() throws {
        #expect(try encode(["a": ["b": ["c": 1]]]) { $0.nesting = .custom { "\($0)/\($1)" } } == "a/b/c=1")
    }

    @Test func `An empty array writes nothing`() throws {
        #expect(try encode(["a": [Int]()]) == "")
    }

    // MARK: Values

    private struct Scalars: Encodable {
        var boolean = true
        var double = 1.5
        var float: Float = 0.1
        var big = UInt64.max
        var small = Int8.min
        var decimal = Decimal(string: "12345678901234567890.12")
        var url = URL(string: "http://a.example/b?c=d")
    }

    @Test func `Numbers URLs and truth values are text`() throws {
        let form = try encode(Scalars())
        #expect(
            form == "big=18446744073709551615&boolean=1&decimal=12345678901234567890.12&double=1.5&float=0.1&small=-128"
                + "&url=http%3A//a.example/b?c%3Dd")
    }

    @Test func `Truth values are numbers or words`() throws {
        #expect(try encode(["a": true, "b": false]) == "a=1&b=0")
        #expect(try encode(["a": true, "b": false]) { $0.booleans = .literal } == "a=true&b=false")
    }

    @Test func `Dates have any form`() throws {
        let date = ["a": Date(timeIntervalSinceReferenceDate: 123.456)]
        #expect(try encode(date) == "a=123.456")
        #expect(try encode(date) { $0.dates = .secondsSince1970 } == "a=978307323.456")
        #expect(try encode(date) { $0.dates = .millisecondsSince1970 } == "a=978307323456.0")
        #expect(try encode(date) { $0.dates = .iso8601 } == "a=2001-01-01T00%3A02%3A03Z")
        #expect(try encode(date) { $0.dates = .custom { _ in "now" } } == "a=now")
    }

    @Test func `Data is base64 or the text of a closure`() throws {
        #expect(try encode(["a": Data([0xFB, 0xFF])]) == "a=%2B/8%3D")
        #expect(try encode(["a": Data([1])]) { $0.data = .custom { "\($0.count)" } } == "a=1")
    }

    private struct Absent: Encodable {
        var a: Int?
        var b: String? = "c"
    }

    @Test func `Nil is dropped empty or null`() throws {
        #expect(try encode(Absent()) == "b=c")
        #expect(try encode(Absent()) { $0.nils = .empty } == "a=&b=c")
        #expect(try encode(Absent()) { $0.nils = .null } == "a=null&b=c")
        #expect(try encode(["a": [1, nil]]) { $0.nils = .null } == "a=1&a=null")
    }

    private enum Choice: Encodable {
        case byUserID(userID: Int, viaName: String)
        case noneAtAll

        enum CodingKeys: String, CodingKey {
            case byUserID
            case noneAtAll = "noneOfThem"
        }

        enum ByUserIDCodingKeys: String, CodingKey {
            case userID
            case viaName = "viaThisName"
        }
    }

    @Test func `The coding keys of an enumeration are not converted`() throws {
        let choice = ["a": Choice.byUserID(userID: 1, viaName: "x")]
        #expect(
            try encode(choice) { $0.naming = .snakeCase }
                == "a%5Bby_user_id%5D%5Buser_id%5D=1&a%5Bby_user_id%5D%5BviaThisName%5D=x")
        let none = try encode(["a": ["k": Choice.noneAtAll]]) { encoder in
            encoder.naming = .snakeCase
            encoder.nils = .null
        }
        #expect(!none.contains("none_of_them"))
    }

    @Test func `Names that are converted to one are an error that names both`() {
        struct Colliding: Encodable {
            var userID = 1
            var userId: Int? = 2
        }
        #expect { try encode(["a": Colliding()]) { $0.naming = .snakeCase } } throws: { error in
            guard case EncodingError.invalidValue(_, let context) = error else { return false }
            return context.debugDescription.contains("'userID' and 'userId'")
        }
    }

    // MARK: Dates that are none

    private struct Dating: Encodable {
        var date: Date
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude])
    func `A date that cannot be written is an error that names it`(_ interval: Double) {
        let value = Dating(date: Date(timeIntervalSinceReferenceDate: interval))
        #expect { try encode(value) { $0.dates = .iso8601 } } throws: { "\($0)".contains("'date'") }
        #expect { try encode(value) { $0.dates = .millisecondsSince1970 } } throws: { "\($0)".contains("'date'") }
        guard !interval.isFinite else { return }
        #expect { try encode(value) } throws: { "\($0)".contains("'date'") }
        #expect { try encode(value) { $0.dates = .secondsSince1970 } } throws: { "\($0)".contains("'date'") }
    }

    @Test func `Seconds since 1970 are exact to a microsecond`() throws {
        var texts = AnyText(seed: 3)
        var decoder = URLEncodedFormDecoder()
        decoder.dates = .secondsSince1970
        for _ in 0..<200 {
            let date = Date(
                timeIntervalSinceReferenceDate: Double(texts.number(in: -1_000_000_000...2_000_000_000)) / 3)
            let form = try encode(["a": date]) { $0.dates = .secondsSince1970 }
            let read = try #require(try decoder.decode([String: Date].self, from: form)["a"])
            #expect(abs(read.timeIntervalSince(date)) < 1e-6)
        }
    }

    // MARK: The transform

    private enum Level: String, Encodable {
        case high
    }

    private struct Seen: Encodable {
        var level = Level.high
        var dates: [Date?] = [Date(timeIntervalSinceReferenceDate: 1), nil]
        var wrapped = Wrapped()
        var missing: Int?

        struct Wrapped: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(7)
            }
        }
    }

    @Test func `The transform sees what is written as one value and what optionals hold`() throws {
        let form = try encode(Seen()) { encoder in
            encoder.transform = { value, _ in
                switch value {
                case nil: "nil"
                case let date as Date: date.timeIntervalSinceReferenceDate + 1
                case let text as String: text.uppercased()
                case let number as Int: number * 2
                default: value
                }
            }
        }
        #expect(form == "dates=2.0&dates=nil&level=HIGH&missing=nil&wrapped=14")
    }

    @Test func `What the transform returns is not shown to it again`() throws {
        let form = try encode(["a": 1]) { encoder in
            encoder.transform = { value, _ in
                switch value {
                case is Int: Level.high
                case let text as String: text.uppercased()
                default: value
                }
            }
        }
        #expect(form == "a=high")
    }

    private struct Dated: Encodable {
        var date = Date(timeIntervalSince1970: 1_452_239_110.829915)
        var dates = [Date(timeIntervalSince1970: 1)]
        var text = "t"
        var missing: Date?
    }

    @Test func `The transform sees every value and nil`() throws {
        let form = try encode(Dated()) {
            $0.transform = { value, path in
                if let date = value as? Date { return date.timeIntervalSince1970 }
                return value ?? "no \(path.last?.stringValue ?? "")"
            }
        }
        #expect(form == "date=1452239110.829915&dates=1.0&missing=no%20missing&text=t")
    }

    private struct Numbers: Encodable {
        var a: Int8 = -1
        var b: UInt16 = 2
        var c: Float = 0.5
        var d: Int64? = 3
    }

    @Test func `A transform that changes nothing leaves numbers of any width`() throws {
        #expect(try encode(Numbers()) { $0.transform = { value, _ in value } } == "a=-1&b=2&c=0.5&d=3")
    }

    @Test func `A transform to nil drops the value`() throws {
        #expect(try encode(Dated()) { $0.transform = { value, _ in value as? String } } == "text=t")
    }

    @Test func `An error of the transform is that of the encoding`() {
        #expect(throws: Problem.self) { try encode(Dated()) { $0.transform = { _, _ in throw Problem() } } }
    }

    // MARK: Classes

    private class Animal: Encodable {
        var name = "n"
    }

    private final class Dog: Animal {
        var age = 1

        enum CodingKeys: CodingKey { case age }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(age, forKey: .age)
        }
    }

    @Test func `A subclass and its superclass share their members`() throws {
        #expect(try encode(Dog()) == "age=1&name=n")
    }

    // MARK: What has no form

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `A number that is not finite is an error that names the property`(_ number: Double) throws {
        #expect(try message(["outer": ["inner": number]]).contains("'outer.inner'"))
    }

    @Test func `A nil in an array is an error that names the element`() throws {
        #expect(try message(["a": [1, nil]]).contains("'a.1'"))
    }

    @Test func `An empty element of an array is an error that names it`() throws {
        #expect(try message(["a": [[1], []]]).contains("'a.1'"))
        #expect(try message(["a": [["b": [Int]()]]]).contains("'a.0'"))
    }

    @Test(arguments: ["a[b]", "a]", "["])
    func `A name with brackets is an error unless it is allowed`(_ name: String) throws {
        #expect(try message([name: 1]).contains("'\(name)'"))
        #expect(try encode([name: 1]) { $0.acceptsStructuredNames = true }.hasSuffix("=1"))
        #expect(try encode([name: 1]) { $0.nesting = .custom { $0 + $1 } }.hasSuffix("=1"))
    }

    @Test func `A name with dots is an error where they nest`() throws {
        #expect(throws: EncodingError.self) { try encode(["a.b": 1]) { $0.nesting = .dots } }
        #expect(try encode(["a.b": 1]) == "a.b=1")
    }

    @Test func `The outermost value has members`() {
        #expect(throws: EncodingError.self) { try encode([1, 2]) }
        #expect(throws: EncodingError.self) { try encode("text") }
    }

    private func message(_ value: some Encodable) throws -> String {
        do {
            return "no error but " + (try encode(value))
        } catch EncodingError.invalidValue(_, let context) {
            return context.debugDescription
        }
    }
}
