import Foundation

/// A source of request bodies that counts the calls to it.
final class Source: Sendable {
    private struct State {
        var openCount = 0
        var readCount = 0
        var isReading = false
    }

    private let state = Locked(State())
    /// The whole content, if the source was made from pieces.
    let content: Data
    private let next: @Sendable (_ index: Int) async throws -> Data?

    /// Opens when a piece has been asked for after the last one.
    let isExhausted = Door()

    /// Makes a source from a function that gives each piece by its number, from 0.
    init(content: Data = Data(), next: @escaping @Sendable (_ index: Int) async throws -> Data?) {
        self.content = content
        self.next = next
    }

    /// Makes a source of these pieces.
    convenience init(pieces: [Data]) {
        self.init(content: Content.joined(pieces)) { $0 < pieces.count ? pieces[$0] : nil }
    }

    /// Makes a source that gives one piece again and again, `count` times.
    convenience init(_ piece: Data, times count: Int) {
        self.init { $0 < count ? piece : nil }
    }

    var openCount: Int { state.withLock { $0.openCount } }

    /// How many pieces were asked for.
    var readCount: Int { state.withLock { $0.readCount } }

    /// The source as a request body. It can be opened any number of times.
    func stream(length: Int64? = nil) -> BodyStream {
        BodyStream(length: length) {
            self.state.withLock { state in
                state.openCount += 1
                state.readCount = 0
            }
            return BodyStream.Reader { try await self.read() }
        }
    }

    private func read() async throws -> Data? {
        let index = try state.withLock { state in
            try expect(!state.isReading, "A piece was asked for before the one before had been given.")
            state.isReading = true
            state.readCount += 1
            return state.readCount - 1
        }
        defer { state.withLock { $0.isReading = false } }
        let piece = try await next(index)
        if piece == nil { isExhausted.open() }
        return piece
    }
}
