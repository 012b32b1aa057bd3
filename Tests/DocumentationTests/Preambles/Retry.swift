import RequestOperations

private struct Token {
    let access: String
    let refresh: String
}

private func logIn(with refresh: String?) async throws -> Token {
    Token(access: "", refresh: "")
}

private struct TokenServiceUnavailable: Error {}

private actor Link {
    func isUp() async {}
}

private let url = URL(fileURLWithPath: "/")
private let link = Link()
private nonisolated(unsafe) var configuration = RequestConfiguration()
