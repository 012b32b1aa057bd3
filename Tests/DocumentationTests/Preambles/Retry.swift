import RequestOperations

private actor TokenStore {
    func invalidate() {}
}

private struct TokenServiceUnavailable: Error {}

private actor Link {
    func isUp() async {}
}

private let url = URL(fileURLWithPath: "/")
private let tokens = TokenStore()
private let link = Link()
private nonisolated(unsafe) var configuration = RequestConfiguration()
