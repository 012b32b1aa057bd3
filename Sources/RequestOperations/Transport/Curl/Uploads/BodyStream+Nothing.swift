#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    extension BodyStream {
        /// Reads a source to its end, in its own Task, and checks that it is empty. The source is user code. If it does
        /// not notice a cancel, the Task is left behind.
        ///
        /// - Parameter limit: How long that may take; `nil` means no limit.
        /// - Throws: The source's own error, `unencodableBody` if it gives a byte, `timedOut`, or `CancellationError`.
        func expectNothing(within limit: Duration?) async throws {
            let exceeded: @Sendable (Duration) -> any Error = {
                RequestError(.timedOut, stage: .transfer, reason: "no end of the body's source for \($0)")
            }
            try await TimeLimit.run(limit, on: ContinuousClock(), exceeded: exceeded) { try await readNothing() }
        }

        private func readNothing() async throws {
            let reader = try await open()
            while let piece = try await reader.next() {
                try Task.checkCancellation()
                guard piece.isEmpty else { throw StreamUpload.wrongLength("more") }
            }
        }
    }
#endif
