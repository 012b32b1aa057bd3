#if canImport(FoundationNetworking)
    @testable import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// On Linux a queue of Foundation's that sees an operation finished after it has started it announces the finish itself.
    @Suite(.timeLimit(.minutes(15))) struct AsynchronousOperationAnnouncementTests {
        @Test func `The completion block runs whoever announces the finish`() async throws {
            let calls = Collector<Void>()
            let operation = AnnouncedByAnother()
            operation.completionBlock = { calls.append(()) }
            _ = try await run(operation)
            await operation.hasBeenAnnounced.pass()
            await calls.count(1)
            #expect(operation.completionBlock == nil)
        }
    }

    /// An operation whose finish another thread begins to announce first, and ends announcing last.
    private final class AnnouncedByAnother: AsynchronousOperation<Void>, @unchecked Sendable {
        let hasBeenAnnounced = Door()
        private let dependent = AskedForReadiness()
        private let isOver = DispatchSemaphore(value: 0)

        override init() {
            super.init()
            dependent.addDependency(self)
            whenFinished { [isOver] _ in isOver.signal() }
        }

        override func run() async throws {}

        override func willAnnounce(_ ending: OperationLifecycle.Ending) {
            let isBeingAnnounced = DispatchSemaphore(value: 0)
            dependent.whenAsked.withLock { whenAsked in
                whenAsked = { [isOver] in
                    isBeingAnnounced.signal()
                    isOver.wait()
                }
            }
            Thread.detachNewThread { [self] in
                didChangeValue(forKey: "isFinished")
                hasBeenAnnounced.open()
            }
            isBeingAnnounced.wait()
        }
    }

    /// A foreign operation that does something when it is asked whether it is ready.
    private final class AskedForReadiness: Operation, @unchecked Sendable {
        let whenAsked = Locked<(@Sendable () -> Void)?>(nil)

        override var isReady: Bool {
            let whenAsked = whenAsked.withLock { whenAsked in
                defer { whenAsked = nil }
                return whenAsked
            }
            whenAsked?()
            return super.isReady
        }
    }
#endif
