/// Gives the URL of a download, and asks for a new one when the server says that it has expired.
final class DownloadURLSource: Sendable {
    private enum State {
        case none
        /// It was made for the running attempt.
        case new(URL)
        /// It served an earlier attempt, so it may expire.
        case used(URL)
    }

    private let provide: @Sendable () async throws -> URL
    private let state = Locked(State.none)

    /// The statuses with which servers refuse a signed URL that has expired.
    private static let refusals: Set<Int> = [401, 403, 410]

    init(_ provide: @escaping @Sendable () async throws -> URL) {
        self.provide = provide
    }

    /// The URL for an attempt.
    func url() async throws -> URL {
        let known = state.withLock { state -> URL? in
            switch state {
            case .none: return nil
            case .new(let url), .used(let url):
                state = .used(url)
                return url
            }
        }
        if let known { return known }
        let url = try await provide()
        state.withLock { $0 = .new(url) }
        return url
    }

    private static func isRefusal(_ failure: AttemptFailure) -> Bool {
        failure.code == .unacceptableStatus && failure.head.map { refusals.contains($0.status) } ?? false
    }

    /// Forgets the URL if a refusal of one of several requests says that it has expired. Another request may have done so.
    func expireForAll(after failure: AttemptFailure) -> Bool {
        guard Self.isRefusal(failure) else { return false }
        state.withLock { state in
            if case .used = state { state = .none }
        }
        return true
    }

    /// Forgets the URL if a refusal says that it has expired. A refusal of a new URL says something else.
    func expire(after failure: AttemptFailure) -> Bool {
        guard Self.isRefusal(failure) else { return false }
        return state.withLock { state in
            guard case .used = state else { return false }
            state = .none
            return true
        }
    }
}
