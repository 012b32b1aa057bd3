import RequestOperations
import RequestOperationsTesting
import Testing

private struct User: Codable, Sendable {
    var name: String
}

private struct YourTransport: Transport {
    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        throw TransferFailure(RequestError(.unsupported, stage: .transfer), phase: .connect)
    }
}

private let url = URL(fileURLWithPath: "/")
private let request = URLRequest(url: url)
