import RequestOperations

private let url = URL(fileURLWithPath: "/")
private let downloads = URL(fileURLWithPath: "/")
private let queue = RequestQueue()
private func newURL() async throws -> URL { url }
private let video = URL(fileURLWithPath: "/")
private let client = RequestClient()
