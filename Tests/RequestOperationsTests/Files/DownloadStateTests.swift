import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct DownloadStateTests {
    private let folder: DownloadFolder
    private let file: PartialFile

    init() throws {
        folder = try DownloadFolder()
        file = try PartialFile.made(at: .unique(in: folder.url))
    }

    private var record: PartialRecord {
        PartialRecord(identity: "", location: "", validator: .entityTag(#""a""#), total: 8, name: nil)
    }

    @Test func `Only the attempt that began last may write`() {
        var state = DownloadState()
        let attempts = [state.beginAttempt(), state.beginAttempt()]
        #expect(attempts == [1, 2] && !state.mayWrite(1) && state.mayWrite(2))
    }

    @Test func `Nothing begins after the end`() {
        var state = DownloadState()
        let (first, left) = (state.beginAttempt(), state.end())
        let (second, isKept, moved) = (state.beginAttempt(), state.keep(file, nil), state.beginMove())
        #expect(first == 1 && left == nil && second == nil && !isKept && moved == nil && !state.mayWrite(1))
    }

    @Test func `The end leaves the partial file, once`() {
        var state = holding()
        let (first, second) = (state.end(), state.end())
        #expect(first === file && second == nil)
    }

    @Test func `A file that gets its name when the operation ends keeps it`() {
        var state = holding()
        let (moved, left) = (state.beginMove(), state.end())
        #expect(moved === file && left == nil && state.isOver)
        state.moved(PublishedFile(target: folder.file(), url: folder.file()))
        let rest = state.end()
        #expect(rest == nil)
    }

    @Test func `A file that does not get its name is left by the move if the operation has ended`() {
        var state = holding()
        let (moved, left) = (state.beginMove(), state.end())
        let isLeft = state.moveFailed()
        #expect(moved === file && left == nil && isLeft)
    }

    @Test func `A file that does not get its name is a partial file again`() {
        var state = holding()
        let moved = state.beginMove()
        let isLeft = state.moveFailed()
        #expect(moved === file && !isLeft && state.file === file)
    }

    @Test func `Only a file of several parts is begun again, and once`() {
        var state = holding()
        state.begin(record, target: folder.file(), digest: nil)
        let whole = state.beginAgain(after: .digestMismatch)
        state.goOn(total: 8, target: folder.file(), digest: nil)
        let (first, second) = (
            state.beginAgain(after: .digestMismatch), state.beginAgain(after: .digestMismatch)
        )
        #expect(!whole && first && !second)
    }

    @Test func `Wrong bytes are not gone on from`() {
        var state = holding()
        #expect(state.record?.rangeRequest(from: 4, of: "") != nil)
        state.record = nil
        #expect(state.record?.rangeRequest(from: 4, of: "") == nil)
    }

    @Test func `Wrong bytes of several parts are begun again, whatever the failure`() {
        var state = holding()
        state.goOn(total: 8, target: folder.file(), digest: nil)
        let right = state.beginAgain(after: .connectionLost)
        state.record = nil
        let wrong = state.beginAgain(after: .connectionLost)
        #expect(!right && wrong)
    }

    // MARK: Steps

    @Test func `A server that refuses some segments gets fewer, down to one`() {
        var step = SegmentStep.segments(4)
        step.stepDown(by: 2, after: [.refused, .anotherState], hasGrown: true)
        #expect(step == .segments(2))
        step.stepDown(by: 2, after: [.refused, .refused], hasGrown: true)
        #expect(step == .segments(1))
        step.stepDown(by: 1, after: [.refused], hasGrown: true)
        #expect(step == .failed)
    }

    @Test func `Segments that fail otherwise, or of which nothing comes, fail the download`() {
        var (first, second) = (SegmentStep.segments(4), SegmentStep.segments(4))
        first.stepDown(by: 2, after: [.refused, nil], hasGrown: true)
        second.stepDown(by: 1, after: [.refused], hasGrown: false)
        #expect(first == .failed && second == .failed)
    }

    @Test func `A file that changes between its segments is begun again as a whole, for all attempts`() {
        var state = DownloadState(segments: 4)
        state.step.stepDown(by: 2, after: [.anotherState, .refused], hasGrown: false)
        #expect(state.step == .changed)
        let (first, second) = (state.beginAgain(after: .malformedResponse), state.beginAgain(after: .malformedResponse))
        _ = state.beginAttempt()
        #expect(first && !second && state.step == .whole)
    }

    @Test func `Each attempt begins with all segments`() {
        var state = DownloadState(segments: 4)
        state.step.stepDown(by: 1, after: [.refused], hasGrown: true)
        _ = state.beginAttempt()
        #expect(state.step == .segments(4))
    }

    /// A state with a partial file.
    private func holding() -> DownloadState {
        var state = DownloadState()
        _ = state.keep(file, record)
        return state
    }
}
