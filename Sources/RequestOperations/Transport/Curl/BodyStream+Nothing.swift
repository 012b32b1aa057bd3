#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    extension BodyStream {
        /// Reads a source that must have no byte to its end, in a Task of its own. The source is code of the user's. If it
        /// does not notice a cancel, it is left behind.
        ///
        /// - Parameter limit: How long that may take; `nil` is for ever.
        /// - Throws: The source's own error, `unencodableBody` if it gives a byte, `timedOut`, or `CancellationError`.
        func expectNothing(within limit: Duration?) async throws {
            let answer = Answer<Void>()
            let reading = Task { answer.resume(with: await Result(catching: { try await readNothing() })) }
            let waiting = limit.map { limit in
                Task {
                    // It is cancelled when nobody waits any more.
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
