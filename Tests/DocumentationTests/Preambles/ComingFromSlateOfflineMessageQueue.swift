import OfflineRequests
import RequestOperations

private struct Like: Codable, Sendable {
    let post: Int
    let isOn: Bool
}

private struct Service: Sendable {
    func setLike(_ post: Int, _ isOn: Bool) async throws {}
}

private let service = Service()
