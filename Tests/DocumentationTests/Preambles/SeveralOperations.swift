import RequestOperations

private struct User: Codable, Sendable {
    var name: String
}

private struct Session: Sendable {
    func check() async throws {}
}

private struct Refused: Error {}

private final class LineConnection: Sendable {
    init(to server: URL) throws {}
    func ask(_ line: String) async throws -> String { line }
    func end() {}
}

private let url = URL(fileURLWithPath: "/")
private let urls = [url]
private let queue = OperationQueue()
private let session = Session()
