import RequestOperations
import RequestOperationsTesting

/// A transport whose responses may break off after some bytes.
final class PartTransport: Transport {
    struct Part: Sendable {
        var status = 200
        var fields: [(name: String, value: String)] = []
        var body = ""
        /// Whether the connection is lost after the body.
        var breaksOff = false
        /// Opens after the body; the response then does not end before its request is cancelled.
        var stall: Door?
    }

    private struct State {
        var parts: [Part]
        var requests: [URLRequest] = []
    }

    private let state: Locked<State>

    /// - Parameter parts: The responses in turn. A request after the last one fails.
    init(_ parts: [Part]) {
        state = Locked(State(parts: parts))
    }

    var requests: [URLRequest] { state.withLock { $0.requests } }

    /// The values of `Range` in turn.
    var ranges: [String?] { requests.map { $0.value(forHTTPHeaderField: "Range") } }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let next = state.withLock { state in
            state.requests.append(task.request)
            return state.parts.isEmpty ? nil : state.parts.removeFirst()
        }
        guard let part = next else {
            throw TransferFailure(RequestError(.unsupported, stage: .transfer), phase: .connect)
        }
        // The operation does not send a request without a URL.
        let head = ResponseHead(status: part.status, url: task.request.url!, fields: part.fields, version: .http1_1)
        let size = Int64(part.body.utf8.count)
        do {
            do { try onHead(head) } catch {
                // As real transports do, it reads some of a body that is rejected.
                task.onProgress?(TransferProgress(bytesReceived: size, bytesToReceive: size))
                throw error
            }
            if case .stream(let consumer) = task.destination, !part.body.isEmpty {
                try await consumer(Data(part.body.utf8))
            }
            task.onProgress?(TransferProgress(bytesReceived: size, bytesToReceive: part.breaksOff ? nil : size))
            if let stall = part.stall {
                stall.open()
                await blockedUntilCancelled()
                throw CancellationError()
            }
            if part.breaksOff { throw RequestError(.connectionLost, stage: .transfer) }
            return TransportResponse(head: head, bodySize: size)
        } catch {
            throw TransferFailure(error, head: head, phase: .body)
        }
    }
}

extension PartTransport.Part {
    /// The beginning of a file, after which the connection is lost.
    static func beginning(_ body: String, of total: Int, tag: String? = #""v1""#) -> Self {
        Self(
            fields: [("Content-Length", "\(total)")] + (tag.map { [("ETag", $0)] } ?? []), body: body, breaksOff: true)
    }

    /// A whole file.
    static func whole(_ body: String, _ fields: [(name: String, value: String)] = []) -> Self {
        Self(fields: [("Content-Length", "\(body.utf8.count)")] + fields, body: body)
    }

    /// A part of a file.
    static func part(_ body: String, _ range: String, tag: String? = #""v1""#, breaksOff: Bool = false) -> Self {
        Self(
            status: 206, fields: [("Content-Range", range)] + (tag.map { [("ETag", $0)] } ?? []), body: body,
            breaksOff: breaksOff)
    }
}
