#if os(Linux)
    import Foundation
    import RequestOperationsTesting

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A thread in a network of its own, which nothing else shares: network_namespaces(7).
    ///
    /// A thread that this one starts stays in that network. So nothing that runs here may give Dispatch a job, nor resume a
    /// Task: for that Dispatch may start a thread, which serves everybody, and whose sockets would reach nobody.
    final class NetworkNamespace: Sendable {
        struct CommandFailed: Error {
            let arguments: [String]
            let status: Int32
        }

        private let jobs = Locked<[@Sendable () -> Void]?>([])
        private let news = DispatchSemaphore(value: 0)

        /// Whether this process may have one, and there is the program that sets it up.
        static let isAllowed: Bool = {
            let answer = Locked(false)
            let done = DispatchSemaphore(value: 0)
            // The thread ends with the network it leaves everything for.
            Thread {
                answer.withLock { $0 = leaveNetwork() && FileManager.default.isExecutableFile(atPath: "/usr/sbin/ip") }
                done.signal()
            }.start()
            done.wait()
            return answer.withLock { $0 }
        }()

        init() {
            let thread = Thread { [jobs, news] in
                precondition(Self.leaveNetwork(), "It was allowed before.")
                while true {
                    news.wait()
                    let job = jobs.withLock { $0?.isEmpty == false ? $0?.removeFirst() : nil }
                    guard let job else { return }
                    job()
                }
            }
            thread.start()
        }

        deinit {
            jobs.withLock { $0 = nil }
            news.signal()
        }

        /// Runs a function on the thread, while another waits for it.
        func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await onBlockingThread { try self.wait { Result(catching: body) }.get() }
        }

        /// Runs a function on the thread, while this one waits for it.
        func wait<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
            // By way of a lock: ThreadSanitizer does not see that a semaphore orders what the two threads do.
            let result = Locked<Value?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            jobs.withLock { jobs in
                jobs?.append {
                    let answer = body()
                    result.withLock { $0 = answer }
                    isDone.signal()
                }
            }
            news.signal()
            isDone.wait()
            // The job has run.
            return result.withLock { $0! }
        }

        /// Runs ip(8) with arguments that blanks separate.
        func ip(_ line: String) async throws {
            let arguments = line.split(separator: " ").map(String.init)
            try await run {
                let status = try ChildProcess("/usr/sbin/ip", arguments).waitUntilExit()
                guard status == 0 else { throw CommandFailed(arguments: arguments, status: status) }
            }
        }

        /// How many threads of this process are in the network.
        func threadCount() async throws -> Int {
            let network = try await run { try Self.network(ofThread: "/proc/thread-self") }
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                // A thread that has ended since is nowhere.
                (try? Self.network(ofThread: "/proc/self/task/\(thread)")) == network
            }
        }

        private static func network(ofThread path: String) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: path + "/ns/net")
        }

        private static func leaveNetwork() -> Bool {
            // The headers show it to C programs that define _GNU_SOURCE only; this is its type there.
            guard let address = dlsym(nil, "unshare") else { return false }
            let unshare = unsafeBitCast(address, to: (@convention(c) (Int32) -> Int32).self)
            // CLONE_NEWNET
            return unshare(0x4000_0000) == 0
        }
    }
#endif
