#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// What the driver thread and the Task of a transfer tell each other, fed by hand.
    struct CurlTransferStateTests {
        private var machine = CurlTransferState()
        private let head = ResponseHead(status: 200, url: URL(fileURLWithPath: "/"), version: .http1_1)

        private mutating func arrive(
            _ count: Int, kept: Int = 0, isTooLarge: Bool = false
        ) -> CurlTransferState.Reception {
            var kept = Data(count: kept)
            return Data(repeating: 7, count: count).withUnsafeBytes { bytes in
                machine.bodyArrived(bytes, kept: &kept, limit: 100, isTooLarge: isTooLarge)
            }
        }

        private mutating func deliver(_ count: Int) {
            var kept = Data(count: count)
            machine.deliver(&kept)
            #expect(kept.isEmpty)
        }

        private mutating func begin() {
            #expect(machine.begin() == true)
            machine.headArrived(head)
        }

        private mutating func takeHead() {
            guard case (.head(let head), false)? = machine.take() else {
                Issue.record("There is no head to take.")
                return
            }
            #expect(head.status == 200)
        }

        @Test mutating func `A transfer that was aborted in the inbox never begins`() {
            #expect(machine.abort() == true)
            #expect(machine.begin() == false)
            guard case .abort = machine.attend() else {
                Issue.record("The driver does not hear of the abort.")
                return
            }
        }

        @Test mutating func `A response that was whole before it was seen is taken without calling the driver`() {
            begin()
            #expect(arrive(5).isKeep)
            machine.end()
            takeHead()
            #expect(machine.accept(.memory) == false)
            guard case (.ended, false)? = machine.take() else {
                Issue.record("The end is not taken.")
                return
            }
        }

        @Test mutating func `More than the limit before the answer pauses, and the answer calls the driver`() {
            begin()
            guard case .pause = arrive(60, kept: 60) else {
                Issue.record("It does not pause.")
                return
            }
            takeHead()
            #expect(machine.accept(.memory) == true)
            guard case .goOn = machine.attend(), case .keepAll = arrive(60, kept: 60) else {
                Issue.record("It does not go on.")
                return
            }
        }

        @Test mutating func `An accepted body in memory goes on without calling the driver`() {
            begin()
            takeHead()
            #expect(machine.accept(.memory) == false)
            #expect(machine.take() == nil)
        }

        @Test mutating func `A rejected response is drained`() {
            begin()
            takeHead()
            #expect(machine.reject() == true)
            guard case .drain = machine.attend(), case .discard = arrive(5) else {
                Issue.record("It is not drained.")
                return
            }
        }

        @Test mutating func `A body that is too large waits for the answer to its head, and then is not taken`() {
            begin()
            guard case .pause = arrive(5, isTooLarge: true) else {
                Issue.record("It does not wait.")
                return
            }
            takeHead()
            #expect(machine.accept(.memory) == true)
            guard case .tooLarge = arrive(5, isTooLarge: true) else {
                Issue.record("It is taken.")
                return
            }
        }

        @Test mutating func `A consumer gets what was kept and what follows, and frees the driver by taking it`() {
            begin()
            takeHead()
            #expect(machine.accept(.stream(isPaused: false)) == true)
            deliver(3)
            guard case .offered = arrive(4) else {
                Issue.record("The bytes are not offered.")
                return
            }
            deliver(CurlTransferState.streamBuffer)
            guard case .pause = arrive(1) else {
                Issue.record("A full buffer does not pause.")
                return
            }
            guard case (.piece(let piece), true)? = machine.take() else {
                Issue.record("There is no piece.")
                return
            }
            #expect(piece.count == 7 + CurlTransferState.streamBuffer)
            #expect(machine.take() == nil)
        }

        @Test mutating func `Pieces that were not taken before the end come before it`() {
            begin()
            takeHead()
            _ = machine.accept(.stream(isPaused: false))
            _ = arrive(4)
            machine.end()
            guard case (.piece, false)? = machine.take(), case (.ended, false)? = machine.take() else {
                Issue.record("The order is another.")
                return
            }
        }

        @Test mutating func `The head of an aborted transfer that was not taken is not lost`() {
            begin()
            #expect(machine.abort() == true)
            #expect(machine.take() == nil)
            machine.end()
            takeHead()
            guard case (.ended, false)? = machine.take() else {
                Issue.record("The end is not taken.")
                return
            }
        }

        @Test mutating func `An abort after the end changes nothing`() {
            begin()
            machine.end()
            #expect(machine.abort() == false)
            takeHead()
        }

        @Test mutating func `Of several reports of progress only the last is taken`() {
            begin()
            takeHead()
            machine.progressed(TransferProgress(bytesReceived: 1))
            machine.progressed(TransferProgress(bytesReceived: 2))
            guard case (.progress(let progress), false)? = machine.take() else {
                Issue.record("There is no progress.")
                return
            }
            #expect(progress.bytesReceived == 2)
            #expect(machine.take() == nil)
        }
    }

    extension CurlTransferState.Reception {
        fileprivate var isKeep: Bool { if case .keep = self { true } else { false } }
    }
#endif
