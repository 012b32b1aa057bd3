#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Dispatch

    /// The thread that writes the files of a driver's downloads, one piece after the other. It starts with the first
    /// piece and ends after the driver.
    ///
    /// It is not a Dispatch thread, since operations that wait for downloads may occupy all of those.
    final class FileThread: Sendable {
        typealias Job = @Sendable () -> Void

        private struct Work: Sendable {
            var jobs: [Job] = []
            var isRunning = false
            /// Whether no more jobs are expected, so that the thread need not wait for them.
            var isEnding = false
        }

        private let work = Locked(Work())
        private let wakes = DispatchSemaphore(value: 0)
        /// Starts the thread. Returns `false` if the system has none to give.
        private let launch: @Sendable (FileThread) -> Bool

        init(launchedBy launch: @escaping @Sendable (FileThread) -> Bool = FileThread.launch) {
            self.launch = launch
        }

        /// Runs a job after those before it. If the system has no thread to give, the caller runs it, or a caller that
        /// is running others.
        func perform(_ job: @escaping Job) {
            let starts = work.withLock { work in
                work.jobs.append(job)
                defer { work.isRunning = true }
                return !work.isRunning
            }
            if starts {
                start()
            } else {
                wakes.signal()
            }
        }

        /// The driver has ended. What its Tasks still have to write is written.
        func end() {
            work.withLock { $0.isEnding = true }
            wakes.signal()
        }

        private func start() {
            // The caller also runs the jobs that others add meanwhile. So jobs keep their order and run one at a time.
            if !launch(self) { run(waitsForMore: false) }
        }

        private static func launch(_ thread: FileThread) -> Bool {
            let context = Unmanaged.passRetained(thread)
            let code = rocurl_start_thread(
                { context in
                    rocurl_name_thread("CurlFiles")
                    // This is the context passed to `rocurl_start_thread` below.
                    Unmanaged<FileThread>.fromOpaque(context!).takeRetainedValue().run(waitsForMore: true)
                    return nil
                }, context.toOpaque())
            if code != 0 { context.release() }
            return code == 0
        }

        private func run(waitsForMore: Bool) {
            while true {
                let (jobs, isOver) = work.withLock { work in
                    defer { work.jobs = [] }
                    let isOver = work.jobs.isEmpty && (work.isEnding || !waitsForMore)
                    if isOver { work.isRunning = false }
                    return (work.jobs, isOver)
                }
                if isOver { return }
                for job in jobs { job() }
                if jobs.isEmpty { wakes.wait() }
            }
        }
    }
#endif
