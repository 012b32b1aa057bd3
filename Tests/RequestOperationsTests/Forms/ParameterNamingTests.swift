import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ParameterNamingTests {
    @Test(arguments: [
        ("userID", "user_id"), ("URLString", "url_string"), ("userIDs", "user_ids"),
        ("userIDsByName", "user_ids_by_name"),
        ("Name", "name"), ("userInfo", "user_info"), ("isURL", "is_url"), ("address2Line", "address2_line"),
        ("HTTPServerURLs", "http_server_urls"), ("URLSession", "url_session"), ("userIs", "user_is"), ("a", "a"),
        ("already_snake", "already_snake"), ("_private", "_private"), ("_privateName", "_private_name"), ("", ""),
        ("user_Name", "user_name"), ("sha256Hash", "sha256_hash"), ("base64URL", "base64_url"), ("ID", "id"),
        ("IDs", "ids"), ("aB", "a_b"), ("someABTest", "some_ab_test"),
    ])
    func `Words are joined`(_ name: String, _ expected: String) {
        #expect(ParameterNaming.snakeCase.name(for: name) == expected)
    }

    @Test(arguments: [
        ("größeÄndern", "größe_ändern"), ("ΑλφαΒήτα", "αλφα_βήτα"), ("用户ID", "用户_id"), ("naïveÉtude", "naïve_étude"),
        ("e\u{301}tudeÉ", "e\u{301}tude_é"), ("мойURL", "мой_url"),
    ])
    func `Letters are those of unicode`(_ name: String, _ expected: String) {
        #expect(ParameterNaming.snakeCase.name(for: name) == expected)
    }

    @Test func `The separator is any`() {
        #expect(ParameterNaming.separated(by: "-").name(for: "userIDs") == "user-ids")
        #expect(ParameterNaming.separated(by: "").name(for: "userID") == "userid")
    }

    @Test func `As declared changes nothing`() {
        #expect(ParameterNaming.asDeclared.name(for: "userID") == "userID")
    }

    @Test func `A closure converts`() {
        #expect(ParameterNaming.custom { $0.uppercased() }.name(for: "userID") == "USERID")
    }
}
