import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ParameterEncoderTests {
    private let base = URL(string: "http://a.example")!

    private struct Create: Endpoint {
        typealias Response = Data
        let method = HTTPMethod.post
        let path = "x"
        @Ignored var bodyEncoder: ParameterEncoder
        @Ignored var files: [MultipartFormData.Part] = []
        var name = "é"
        var count = 2
        var ratio: Float = 0.5
        var price = Decimal(string: "0.1")
        var tags: [String?] = ["a", nil]
        var nested = ["k": [true]]
        var missing: Int?
        var date = Date(timeIntervalSince1970: 1)
        var data = Data([1, 2])
    }

    private func sent(_ encoder: ParameterEncoder) throws -> (type: String?, body: Data) {
        let request = try Create(bodyEncoder: encoder).urlRequest(relativeTo: base)
        return (request.value(forHTTPHeaderField: "Content-Type"), try #require(request.httpBody))
    }

    @Test func `Json has the types of the values and the strategies of its encoder`() throws {
        let (type, body) = try sent(
            .json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                encoder.dateEncodingStrategy = .secondsSince1970
                return encoder
            })
        #expect(type == "application/json")
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"count":2,"data":"AQI=","date":1,"name":"é","nested":{"k":[true]},"price":0.1,"ratio":0.5,"tags":["a",null]}"#
        )
    }

    @Test func `A property list has them too`() throws {
        struct Read: Decodable, Equatable {
            var name: String
            var date: Date
            var data: Data
            var nested: [String: [Bool]]
        }
        struct Write: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.put
            let path = "x"
            var bodyEncoder: ParameterEncoder { .propertyList }
            var name = "é"
            var date = Date(timeIntervalSince1970: 1)
            var data = Data([1, 2])
            var nested = ["k": [true]]
            enum CodingKeys: CodingKey { case name, date, data, nested }
        }
        let request = try Write().urlRequest(relativeTo: base)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
        let read = try PropertyListDecoder().decode(Read.self, from: #require(request.httpBody))
        #expect(
            read == Read(name: "é", date: Date(timeIntervalSince1970: 1), data: Data([1, 2]), nested: ["k": [true]]))
    }

    @Test func `A nil in a property list is an error that names it`() {
        struct Write: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.put
            let path = "x"
            @Ignored var bodyEncoder = ParameterEncoder.propertyList
            var missing: Int?
            var list: [String?] = []
            var parameters: [String: ParameterValue] { list.isEmpty ? ["p": nil] : [:] }
        }
        #expect { try Write(list: ["a", nil]).urlRequest(relativeTo: base) } throws: { "\($0)".contains("'list.1'") }
        #expect { try Write().urlRequest(relativeTo: base) } throws: { "\($0)".contains("'p'") }
        #expect(throws: Never.self) { try Write(list: ["a"]).urlRequest(relativeTo: base) }
    }

    @Test func `A closure makes any other`() throws {
        let (type, body) = try sent(
            ParameterEncoder(contentType: "application/x-own") { parameters in
                Data("\(try JSONEncoder().encode(parameters).isEmpty)".utf8)
            })
        #expect(type == "application/x-own" && body == Data("false".utf8))
    }

    @Test func `An error of JSON names the property`() {
        struct Infinite: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.post
            let path = "x"
            @Ignored var bodyEncoder = ParameterEncoder.json
            var outer = ["ratio": Double.nan]
        }
        #expect { try Infinite().urlRequest(relativeTo: base) } throws: { error in
            guard case EncodingError.invalidValue(_, let context)? = (error as? RequestError)?.underlying else {
                return false
            }
            return context.codingPath.map(\.stringValue) == ["outer", "ratio"] && "\(error)".contains("'outer.ratio'")
        }
    }

    @Test(arguments: ["form", "json"]) func `Files in a body that holds none are an error`(_ kind: String) {
        let encoder: ParameterEncoder = kind == "form" ? .form : .json
        let file = MultipartFormData.Part(name: "f", content: .data(Data()))
        var endpoint = Create(bodyEncoder: encoder, files: [file])
        endpoint.tags = []
        #expect { try endpoint.urlRequest(relativeTo: base) } throws: { "\($0)".contains("unencodableParameter") }
    }
}
