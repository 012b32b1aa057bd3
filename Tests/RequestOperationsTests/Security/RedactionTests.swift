import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RedactionTests {
    private func query(_ query: String, _ redaction: Redaction = .default) throws -> String {
        let request = URLRequest(url: try #require(URL(string: "http://a.example/?\(query)")))
        return request.curlCommand(redaction: redaction)
    }

    @Test(arguments: ["access_token", "accessToken", "Access-Token", "access%5Ftoken", "a%5Bpassword%5D", "a.secret"])
    func `Names are the same in any spelling`(_ name: String) throws {
        #expect(try query("\(name)=value").contains("=redacted'"))
    }

    @Test(arguments: ["tokens_of_affection", "keyboard", "page", "author"])
    func `Parts of other names are not`(_ name: String) throws {
        #expect(try query("\(name)=value").contains("=value'"))
    }

    @Test func `Its names are data`() throws {
        let redaction = Redaction(fields: ["X-Mine"], parameters: ["mine"])
        #expect(try query("mine=a&token=b", redaction).contains("mine=redacted&token=b"))
        var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
        request.setValue("a", forHTTPHeaderField: "x-mine")
        #expect(request.curlCommand(redaction: redaction).contains(": redacted"))
    }

    @Test(arguments: [
        "newPassword", "password_confirmation", "userpassword", "private_key", "ssh-private-key", "secretKey",
        "apiSecret",
        "jwt", "APIKey", "x.refreshToken",
    ])
    func `A name with such a word is left out`(_ name: String) throws {
        #expect(try query("\(name)=value").contains("=redacted'"))
    }

    @Test(arguments: ["secretary", "max_tokens", "sort_key", "country_code", "broken"])
    func `A name with a word like it is not`(_ name: String) throws {
        #expect(try query("\(name)=value").contains("=value'"))
    }

    @Test(arguments: [
        "Authorization", "PRIVATE-TOKEN", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token",
        "X-Goog-Api-Key", "cookie",
    ])
    func `A field with a credential is left out`(_ name: String) throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
        request.setValue("s3cr3t", forHTTPHeaderField: name)
        #expect(!request.curlCommand().contains("s3cr3t"))
    }

    @Test func `A field that only looks like one is shown`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
        request.setValue("shown", forHTTPHeaderField: "Idempotency-Key")
        #expect(request.curlCommand().contains("shown"))
    }

    @Test func `Names that are set later count in any case too`() throws {
        var redaction = Redaction()
        redaction.fields.insert("X-Secret-Field")
        redaction.parameters.insert("My-Own")
        redaction.words = ["Inner Word"]
        #expect(try query("my_own=a&theInnerWord=b", redaction).contains("my_own=redacted&theInnerWord=redacted"))
        var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
        request.setValue("value", forHTTPHeaderField: "x-secret-field")
        #expect(request.curlCommand(redaction: redaction).contains(": redacted"))
    }

    @Test func `A fragment is a form`() throws {
        #expect(try query("a=1#access_token=s3cr3t&state=x").contains("?a=1#access_token=redacted&state=x"))
    }
}
