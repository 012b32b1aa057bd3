import Foundation
import OfflineRequests
import RequestOperations
import Testing

struct OutboxStatementTests {
    private let request: URLRequest = {
        var request = URLRequest(url: URL(string: "https://user:pass@a.example/hook?n=1")!)
        request.httpMethod = "POST"
        request.httpBody = Data([0, 10, 255])
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return request
    }()

    /// The parameter that stands for an argument.
    private func value(_ name: String, in statement: OutboxStatement) throws -> String? {
        let list = statement.text.components(separatedBy: ", ")
        let place = try #require(list.firstIndex { $0.contains("\(name) => ") })
        return statement.parameters[place]
    }

    @Test func `Every parameter is one of the text, in order`() throws {
        let statement = try OutboxStatement(adding: request, to: "webhooks")
        #expect(statement.text.hasPrefix("SELECT request_operations.add(queue => $1::text"))
        for number in 1...statement.parameters.count { #expect(statement.text.contains("$\(number)::text")) }
        #expect(!statement.text.contains("$\(statement.parameters.count + 1)"))
    }

    @Test func `Bytes, dates and texts have the forms that PostgreSQL reads`() throws {
        var options = OfflineOptions(lane: "o'brien", notBefore: Date(timeIntervalSince1970: 1_800_000_000.5))
        options.constraints = [OfflineConstraint(#"a "b""#), OfflineConstraint(#"c\d"#)]
        let statement = try OutboxStatement(
            adding: request, to: "webhooks", options: options, uniqueKey: "k", policy: .keep)
        #expect(try value("body", in: statement) == "\\x000aff")
        #expect(try value("not_before", in: statement) == "1800000000.5")
        #expect(try value("lane", in: statement) == "o'brien")
        #expect(try value("constraints", in: statement) == #"{"a \"b\"","c\\d"}"#)
        #expect(try value("policy", in: statement) == "keep")
        #expect(try value("expires", in: statement) == nil)
    }

    @Test func `Credentials are left out and named`() throws {
        var request = request
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let statement = try OutboxStatement(adding: request, to: "webhooks")
        #expect(statement.omittedCredentials == ["Authorization", "URL"])
        #expect(!"\(statement.parameters)".contains("secret") && !"\(statement.parameters)".contains("pass"))
    }

    @Test func `A body that is a stream is refused`() {
        var request = request
        request.httpBodyStream = InputStream(data: Data())
        #expect(throws: OfflineQueueError.self) { try OutboxStatement(adding: request, to: "webhooks") }
    }
}
