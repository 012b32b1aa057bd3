import Foundation
import RequestOperations
import RequestOperationsTesting

/// A tus server from a script: it keeps uploads, and does what a real one never does.
final class TusPeer: Sendable {
    /// What the server says that it can do.
    struct Abilities: Sendable {
        /// `nil` for a server that answers no OPTIONS request.
        var extensions: String? = "creation,creation-with-upload,termination,expiration"
        var algorithms: String?
        var maximumSize: Int?
        /// The value of `Upload-Expires`.
        var expires: String?
    }

    /// What happens to a request in place of the usual.
    enum Fault: Sendable {
        /// The bytes are dropped, and this status is the answer.
        case answers(Int)
        /// Only so many bytes are kept, and the connection ends.
        case keeps(Int)
        /// Only so many bytes are kept, and the answer says so.
        case takes(Int)
        /// All bytes are kept, but the answer has no offset.
        case keepsSilent
        /// The upload is gone, and this status is the answer.
        case forgets(Int)
        /// The answer claims another offset.
        case claims(Int)
    }

    private struct State {
        var uploads: [String: (length: Int, bytes: Data)] = [:]
        var metadata: [String] = []
        /// The faults of each method, in turn; `nil` stands for none.
        var faults: [String: [Fault?]] = [:]
    }

    let server: LoopbackServer
    private let state: Locked<State>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - abilities: What it says of itself.
    ///   - faults: The faults of the requests of each method, in turn.
    init(_ abilities: Abilities = Abilities(), faults: [String: [Fault?]] = [:]) async throws {
        let state = Locked(State(faults: faults))
        self.state = state
        server = try await LoopbackServer.start { request in
            state.withLock { Self.answer(request, &$0, abilities) }
        }
    }

    /// Where uploads are created.
    var url: URL { server.url("/files/?token=secret") }

    /// The requests in turn, such as `PATCH 5`.
    var log: [String] {
        server.requests.map { [$0.method, $0.field("Upload-Offset")].compactMap(\.self).joined(separator: " ") }
    }

    /// The bytes of all uploads, in the order of their creation.
    var contents: [String] {
        state.withLock { state in
            state.uploads.sorted { $0.key < $1.key }.map { String(decoding: $0.value.bytes, as: UTF8.self) }
        }
    }

    var metadata: [String] { state.withLock { $0.metadata } }

    func setFaults(_ faults: [String: [Fault?]]) {
        state.withLock { $0.faults = faults }
    }

    private static func answer(
        _ request: LoopbackServer.Request, _ state: inout State, _ abilities: Abilities
    ) -> LoopbackServer.Response {
        let fault = state.faults[request.method]?.isEmpty == false ? state.faults[request.method]?.removeFirst() : nil
        if case .answers(let status) = fault { return .empty(status) }
        if case .forgets(let status) = fault {
            state.uploads[request.path] = nil
            return .empty(status)
        }
        switch request.method {
        case "OPTIONS": return options(abilities)
        case "POST": return create(request, &state, abilities, fault)
        case "DELETE": return .empty(state.uploads.removeValue(forKey: request.path) == nil ? 404 : 204)
        default: break
        }
        guard let upload = state.uploads[request.path] else { return .empty(404) }
        var fields: LoopbackServer.Fields = ["Tus-Resumable": "1.0.0"]
        if let expires = abilities.expires { fields.append(name: "Upload-Expires", value: expires) }
        if request.method == "HEAD" {
            fields.append(name: "Upload-Length", value: "\(upload.length)")
            fields.append(name: "Upload-Offset", value: "\(offset(upload.bytes, fault))")
            return .status(200, fields: fields)
        }
        guard request.field("Upload-Offset") == "\(upload.bytes.count)" else { return .empty(409) }
        let bytes = keep(request, of: request.path, &state, fault)
        if case .keeps = fault { return .closeWithoutAnswer }
        if case .keepsSilent = fault { return .status(204, fields: fields) }
        fields.append(name: "Upload-Offset", value: "\(offset(bytes, fault))")
        return .status(204, fields: fields)
    }

    private static func offset(_ bytes: Data, _ fault: Fault?) -> Int {
        if case .claims(let offset) = fault { offset } else { bytes.count }
    }

    private static func options(_ abilities: Abilities) -> LoopbackServer.Response {
        guard let extensions = abilities.extensions else { return .empty(405) }
        var fields: LoopbackServer.Fields = [
            "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0,0.2.2", "Tus-Extension": extensions,
        ]
        if let algorithms = abilities.algorithms { fields.append(name: "Tus-Checksum-Algorithm", value: algorithms) }
        if let maximum = abilities.maximumSize { fields.append(name: "Tus-Max-Size", value: "\(maximum)") }
        return .status(204, fields: fields)
    }

    private static func create(
        _ request: LoopbackServer.Request, _ state: inout State, _ abilities: Abilities, _ fault: Fault?
    ) -> LoopbackServer.Response {
        let path = "/files/\(state.uploads.count)"
        state.uploads[path] = (request.field("Upload-Length").flatMap { Int($0) } ?? -1, Data())
        state.metadata.append(request.field("Upload-Metadata") ?? "")
        var fields: LoopbackServer.Fields = ["Location": path]
        if let expires = abilities.expires { fields.append(name: "Upload-Expires", value: expires) }
        if !request.body.isEmpty {
            fields.append(name: "Upload-Offset", value: "\(keep(request, of: path, &state, fault).count)")
        }
        if case .keeps = fault { return .closeWithoutAnswer }
        return .status(201, fields: fields)
    }

    private static func keep(
        _ request: LoopbackServer.Request, of path: String, _ state: inout State, _ fault: Fault?
    ) -> Data {
        let kept =
            switch fault {
            case .keeps(let count), .takes(let count): request.body.prefix(count)
            default: request.body[...]
            }
        state.uploads[path]?.bytes += kept
        return state.uploads[path]?.bytes ?? Data()
    }
}
