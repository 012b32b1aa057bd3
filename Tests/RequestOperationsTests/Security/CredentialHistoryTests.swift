import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct CredentialHistoryTests {
    private static func refreshing() throws -> CredentialHistory<Int> {
        var history = CredentialHistory<Int>(1, maximumRefreshes: 5, window: .seconds(30))
        _ = try history.step(after: 1, at: .zero, Answer())
        return history
    }

    @Test func `Whoever leaves is not kept`() throws {
        var history = try Self.refreshing()
        let answer = Answer<Int>()
        _ = try history.step(after: 1, at: .zero, answer)
        let (left, leftAgain) = (history.leave(answer), history.leave(answer))
        #expect(left && !leftAgain)
        let waited = history.endRefresh(2, with: .success(2))
        #expect(waited.count == 1)
    }

    @Test func `The end of a refresh gives all who wait for it`() throws {
        var history = try Self.refreshing()
        for _ in 0..<9 { _ = try history.step(after: 1, at: .zero, Answer()) }
        let waited = history.endRefresh(2, with: .success(2))
        #expect(waited.count == 10)
        #expect(history.endRefresh(2, with: .success(2)).isEmpty)
    }

    @Test func `A refresh that is not under way any more changes nothing`() throws {
        var history = try Self.refreshing()
        _ = history.replace(with: 7)
        let waited = history.endRefresh(2, with: .success(2))
        #expect(waited.isEmpty)
        #expect(history.current?.credential == 7)
    }

    @Test func `That many wait makes nobody wait longer`() throws {
        var history = try Self.refreshing()
        let start = processorSeconds()
        for _ in 0..<100_000 { _ = try history.step(after: 1, at: .zero, Answer()) }
        // Some tenths of a second; with a copy of all for each the time grows with the square of their number.
        #expect(processorSeconds() - start < 10)
    }
}
