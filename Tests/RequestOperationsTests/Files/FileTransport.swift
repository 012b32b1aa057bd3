import RequestOperations
import RequestOperationsTesting

/// A server of one file in memory, with ranges, whose responses may fail.
final class FileTransport: Transport {
    enum Answer: Sendable {
        /// What was asked for.
        case asked
        /// The same, but the connection is lost after some bytes.
        case breaksOff(after: Int)
        /// The same, but the last bytes are left out as if they had not been asked for.
        case shorter(by: Int)
        /// The same of another state of the file, all of whose bytes are 9.
        case changed
        case whole
        case status(Int)
        /// 200 with a short page for people, and perhaps an entity tag.
        case page(tag: String?)
    }

    /// A request, as the test sees it.
    struct Asked: Sendable {
        /// The number of the request, from 1.
        let number: Int
        let url: URL?
        /// The value of `Range`.
        let range: String?
        /// The first byte that is asked for.
        let offset: Int
        let condition: String?
    }

    private struct State {
        var asked: [Asked] = []
        var sent = 0
    }

    static let tag = #""v1""#

    private let content: Data
    private let changed: Data
    private let fields: [(name: String, value: String)]
    private let answer: @Sendable (Asked) async -> Answer
    private let state = Locked(State())

    /// - Parameters:
    ///   - content: The file.
    ///   - tag: Its entity tag.
    ///   - answer: Chooses what comes in answer to a request. What was asked for, by default.
    init(
        _ content: Data, tag: String? = FileTransport.tag,
        _ answer: @escaping @Sendable (Asked) async -> Answer = { _ in .asked }
    ) {
        self.content = content
        self.answer = answer
        changed = Data(repeating: 9, count: content.count)
        fields = tag.map { [("ETag", $0)] } ?? []
    }

    var asked: [Asked] { state.withLock { $0.asked } }

    /// The values of `Range` in turn.
    var ranges: [String?] { asked.map(\.range) }

    /// How many bytes were sent in all.
    var sent: Int { state.withLock { $0.sent } }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let range = task.request.value(forHTTPHeaderField: "Range")
        let bounds = range?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        let asked = state.withLock { state in
            let asked = Asked(
                number: state.asked.count + 1, url: task.request.url, range: range, offset: bounds?[0] ?? 0,
                condition: task.request.value(forHTTPHeaderField: "If-Range"))
            state.asked.append(asked)
            return asked
        }
        let end = min((bounds?[1] ?? Int.max - 1) + 1, content.count)
        // The operation does not send a request without a URL.
        let url = task.request.url!
        func part(of content: Data, _ fields: [(name: String, value: String)], to end: Int) -> (ResponseHead, Data) {
            guard range != nil else {
                return (ResponseHead(status: 200, url: url, fields: fields + [length(content.count)]), content)
            }
            guard asked.offset < end else {
                return (
                    ResponseHead(
                        status: 416, url: url, fields: fields + [("Content-Range", "bytes */\(content.count)")]),
                    Data()
                )
            }
            let field = (name: "Content-Range", value: "bytes \(asked.offset)-\(end - 1)/\(content.count)")
            let head = ResponseHead(status: 206, url: url, fields: fields + [field, length(end - asked.offset)])
            return (head, content[asked.offset..<end])
        }
        switch await answer(asked) {
        case .asked:
            let (head, body) = part(of: content, fields, to: end)
            return try await deliver(body, under: head, task, onHead)
        case .breaksOff(let count):
            let (head, body) = part(of: content, fields, to: end)
            return try await deliver(body.prefix(count), under: head, task, breaksOff: true, onHead)
        case .shorter(let count):
            let (head, body) = part(of: content, fields, to: end - count)
            return try await deliver(body, under: head, task, onHead)
        case .changed:
            let isConditional = asked.condition != nil
            let fields = [(name: "ETag", value: #""v2""#)]
            let (head, body) =
                isConditional
                ? (ResponseHead(status: 200, url: url, fields: fields + [length(changed.count)]), changed)
                : part(of: changed, fields, to: end)
            return try await deliver(body, under: head, task, onHead)
        case .whole:
            let head = ResponseHead(status: 200, url: url, fields: fields + [length(content.count)])
            return try await deliver(content, under: head, task, onHead)
        case .page(let tag):
            let fields = (tag.map { [(name: "ETag", value: $0)] } ?? []) + [length(8)]
            let head = ResponseHead(status: 200, url: url, fields: fields)
            return try await deliver(Data("too many".utf8), under: head, task, onHead)
        case .status(let status):
            return try await deliver(Data(), under: ResponseHead(status: status, url: url), task, onHead)
        }
    }

    private func length(_ count: Int) -> (name: String, value: String) { ("Content-Length", "\(count)") }

    private func deliver(
        _ body: Data, under head: ResponseHead, _ task: TransportTask, breaksOff: Bool = false,
        _ onHead: @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        do {
            try onHead(head)
            var offset = body.startIndex
            while offset < body.endIndex {
                let piece = body[offset..<min(offset + (256 << 10), body.endIndex)]
                if case .stream(let consumer) = task.destination { try await consumer(piece) }
                offset = piece.endIndex
                state.withLock { $0.sent += piece.count }
                task.onProgress?(
                    TransferProgress(
                        bytesReceived: Int64(offset - body.startIndex), bytesToReceive: Int64(body.count)))
            }
            if breaksOff { throw RequestError(.connectionLost, stage: .transfer) }
            return TransportResponse(head: head, bodySize: Int64(body.count))
        } catch {
            throw TransferFailure(error, head: head, phase: .body)
        }
    }
}
