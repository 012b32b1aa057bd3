#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    extension BodyStream {
        /// Reads a source to its end, in its own Task, and checks that it is empty. The source is user code. If it does
        /// not notice a cancel, the Task is left behind.
        ///
        /// - Parameter limit: How long that may take; `nil` means no limit.
        /// - Throws: The source's own error, `unencodableBody` if it gives a byte, `timedOut`, or `CancellationError`.
        func expectNothing(within limit: Duration?) async throws {
            let answer = Answer<Void>()
            let reading = Task { answer.resume(with: await Result(catching: { try await readNothing() })) }
            let waiting = limit.map { limit in
                Task {
                    // The timer is cancelled when nobody waits any more.
                    guard (try? await Task.sleep(for: limit)) != nil else { return }
                    let reason = "no end of the body's source for \(limit)"
                    answer.resume(with: .failure(RequestError(.timedOut, stage: .transfer, reason: reason)))
                }
            }
            defer {
                reading.cancel()
                waiting?.cancel()
            }
            try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                answer.resume(with: .failure(CancellationError()))
            }
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
