#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct DriverInboxTests {
        private var inbox = DriverInbox()
        private var calls: [CurlTransfer] = []
        private let transfer: CurlTransfer

        init() throws {
            transfer = try .to("a.example", over: CurlDriver(CurlTransport.Configuration()))
        }

        @Test mutating func `The first transfer starts the thread, and only one that finds it asleep wakes it`() {
            let first = [inbox.add(transfer, isNew: true), inbox.add(transfer, isNew: true)]
            #expect(first == [.startThread, .none])
            _ = inbox.take(into: &calls)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(sleeps && calls.count == 2)
            let second = [inbox.add(transfer, isNew: false), inbox.add(transfer, isNew: false)]
            #expect(second == [.wakeThread, .none])
        }

        @Test
        mutating func `What a thread was to do that cannot be started comes back, and the next transfer tries again`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.add(transfer, isNew: false)
            let count = inbox.failToStart()?.transfers.count
            let isDone = inbox.failToStart() == nil
            let effect = inbox.add(transfer, isNew: true)
            #expect(count == 2 && isDone && effect == .startThread)
        }

        @Test
        mutating func `Nobody starts a thread while what one was to do that could not be started is not ended`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.failToStart()
            let effect = inbox.add(transfer, isNew: false)
            let count = inbox.failToStart()?.transfers.count
            #expect(effect == .none && count == 1)
        }

        @Test mutating func `A thread does not fall asleep over what was put in meanwhile`() {
            _ = inbox.add(transfer, isNew: true)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(!sleeps)
        }

        @Test(arguments: [CurlTransport.ShutdownMode.draining, .failing])
        mutating func `A thread that has only its end left does not fall asleep`(mode: CurlTransport.ShutdownMode) {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            let effect = inbox.shutDown(mode, nil)
            let sleeps = inbox.fallsAsleep(hasTransfers: false)
            #expect(effect == .none && !sleeps)
        }

        @Test mutating func `A thread that drains waits for its transfers`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            _ = inbox.shutDown(.draining, nil)
            let sleeps = inbox.fallsAsleep(hasTransfers: true)
            #expect(sleeps)
        }

        @Test mutating func `Failing takes the place of draining, and not the other route round`() {
            _ = inbox.add(transfer, isNew: true)
            let modes = [CurlTransport.ShutdownMode.draining, .failing, .draining].map { mode in
                _ = inbox.shutDown(mode, nil)
                return inbox.take(into: &calls)
            }
            #expect(modes == [.draining, .failing, .failing])
        }

        @Test mutating func `No new transfer is taken once the end has been asked for, but old ones call`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.shutDown(.draining, nil)
            let effects = [inbox.add(transfer, isNew: true), inbox.add(transfer, isNew: false)]
            #expect(effects == [.refuse, .none])
        }

        @Test mutating func `A transport that nobody used is over at once`() {
            let effect = inbox.shutDown(.draining, nil)
            #expect(effect == .isOver)
        }

        @Test mutating func `Nothing is kept after the end`() {
            _ = inbox.add(transfer, isNew: true)
            _ = inbox.take(into: &calls)
            _ = inbox.end()
            calls = []
            let effect = inbox.add(transfer, isNew: false)
            _ = inbox.take(into: &calls)
            #expect(effect == .isOver && calls.isEmpty)
        }
    }
#endif
