#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Wakes the thread of a driver while it waits in libcurl.
    final class WakeBell: Sendable {
        // Unchecked: the lock guards the pointer, and the call below may come from any thread.
        private struct Handle: @unchecked Sendable {
            var multi: UnsafeMutableRawPointer?
        }

        private let handle = Locked(Handle())

        /// Sets the multi handle that the thread waits in; `nil` before the handle is freed.
        func hang(on multi: UnsafeMutableRawPointer?) {
            handle.withLock { $0.multi = multi }
        }

        /// Ends the wait of the thread, or its next one. Does nothing without a multi handle.
        func ring() {
            // The lock keeps the handle alive during the call. The call writes one byte and never blocks.
            handle.withLock { handle in
                if let multi = handle.multi { curl_multi_wakeup(multi) }
            }
        }
    }
#endif
