#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    @testable import RequestOperations

    /// A driver of its own, for tests that see how far its transfers are.
    struct OwnDriver {
        private let driver: CurlDriver

        init(_ configuration: CurlTransport.Configuration) {
            driver = CurlDriver(configuration)
        }

        /// One for a process that may have so many files open.
        init(_ configuration: CurlTransport.Configuration, descriptorLimit: Int64) {
            driver = CurlDriver(configuration, descriptors: DescriptorShare(limit: descriptorLimit))
        }

        func transfer(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
        ) throws -> Transfer {
            Transfer(flow: try CurlTransferTask(task, driver: driver, submitted: CurlLibrary.now, onHead: onHead))
        }

        /// Lets what runs come to its end.
        func drain() async { await driver.shutDown(.draining) }

        /// Fails what runs.
        func fail() async { await driver.shutDown(.failing) }

        struct Transfer: Sendable {
            fileprivate let flow: CurlTransferTask

            func run() async throws -> TransportResponse { try await flow.run() }

            /// Whether it was given to libcurl, and no head has come.
            var awaitsHead: Bool {
                if case .awaitingHead = state { true } else { false }
            }

            /// Whether it is paused since its consumer has enough.
            var isHeldBack: Bool {
                if case .accepted(.stream(isPaused: true)) = state { true } else { false }
            }

            /// Whether a body has been held back since its head was not answered.
            var waitsForAnswer: Bool {
                if case .unanswered(let isPaused) = state { isPaused } else { false }
            }

            private var state: CurlTransferState.State { flow.transfer.exchange.withLock { $0.state } }
        }
    }
#endif
