#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// When a transfer's Task hears of the head.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlHeadTests {
        private let transport = CurlTransport.with { _ in }

        @Test(arguments: [0, 5])
        func `The head of a body that stalls is told all the same`(_ bytes: Int) async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stallBody(after: bytes, of: 10))
            let head = Door()
            let transfer = Task { try await transport.perform(.data(server.request())) { _ in head.open() } }
            await head.pass()
            transfer.cancel()
            await #expect(throws: CancellationError.self) { try await transfer.value }
        }

        @Test func `The heads of many bodies that stall are each told, in turn with those of bodies that come`()
            async throws
        {
            let server = try await LoopbackServer.start { request in
                request.target == "/stall" ? .stallBody(after: 5, of: 10) : .large(byteCount: 100_000)
            }
            let heads = Collector<Int>()
            let stalled = (0..<50).map { number in
                Task { try await transport.perform(.data(server.request("/stall"))) { _ in heads.append(number) } }
            }
            for _ in 0..<50 { #expect(try await transport.get(server.url).body.count == 100_000) }
            await heads.count(50)
            for transfer in stalled { transfer.cancel() }
            for transfer in stalled { await #expect(throws: CancellationError.self) { try await transfer.value } }
            #expect(Set(heads.elements) == Set(0..<50) && heads.count == 50)
        }

        @Test func `A rejected head of a body that stalls ends the transfer when its time is over`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stallBody(after: 5, of: 10))
            var task = TransportTask.data(server.request())
            task.limits.errorBodyTimeLimit = .milliseconds(20)
            let failure = await transport.failure(of: task) { _ in throw Rejected() }
            #expect(failure?.error is Rejected)
            #expect(failure?.head?.status == 200)
        }

        @Test func `The head of a large body for memory is answered before the body is there`() async throws {
            let server = try await LoopbackServer.start()
            let gate = LoopbackServer.Gate()
            server.route("/", .held(after: 10, of: 1 << 20, by: gate))
            let response = try await transport.perform(.data(server.request())) { _ in gate.open() }
            #expect(response.body.count == 1 << 20)
        }

        @Test(arguments: [false, true])
        func `A response that is whole is nobody's if the Task is cancelled before it takes the head`(
            isForFile: Bool
        ) async throws {
            let gate = LoopbackServer.Gate()
            let server = try await LoopbackServer.start { _ in .held(by: gate, then: .status(204)) }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            var task = TransportTask.data(server.request())
            if isForFile { task.destination = .file(file) }
            let executor = HoldingExecutor()
            let heads = Collector<Void>()
            let transfer = Task(executorPreference: executor) { [task] in
                try await transport.perform(task) { _ in heads.append(()) }
            }
            await executor.arrived.count(1)
            // Until it waits for the driver.
            await executor.runOne()
            gate.open()
            // The driver is done, and the Task does not know it yet.
            await executor.arrived.count(2)
            transfer.cancel()
            await executor.runOne()
            await #expect(throws: CancellationError.self) { try await transfer.value }
            #expect(heads.count == 0)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        private struct Rejected: Error {}
    }

    /// Runs a part of a Task only when told to.
    private final class HoldingExecutor: TaskExecutor {
        let arrived = Collector<Void>()
        private let held = Locked<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            held.withLock { $0.append(job) }
            arrived.append(())
        }

        /// Runs the part that arrived first; returns when it has ended.
        func runOne() async {
            let job = held.withLock { $0.removeFirst() }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    job.runSynchronously(on: self.asUnownedTaskExecutor())
                    continuation.resume()
                }
            }
        }
    }
#endif
