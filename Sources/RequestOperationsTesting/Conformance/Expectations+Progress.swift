import Foundation

extension TransportExpectation {
    /// Progress reports during a transfer, and the timings after it.
    static let progressAndTimings: [TransportExpectation] = [
        TransportExpectation("Progress of a body that arrives only grows, and ends with all of it", .progress) {
            trial in
            trial.server.route("/", .large(byteCount: 8_000_003))
            let told = Collector<TransferProgress>()
            var task = TransportTask.data(trial.request())
            task.onProgress = { told.append($0) }
            _ = try await trial.perform(task)
            try expectGrowth(of: told.elements.map(\.bytesReceived), to: 8_000_003)
            try expect("The length told", told.elements.last?.bytesToReceive, is: 8_000_003)
        },
        TransportExpectation("Progress of a body that is sent only grows, and ends with all of it", .uploadProgress) {
            trial in
            trial.server.route("/", .text("thanks"))
            let told = Collector<TransferProgress>()
            var task = TransportTask.upload(trial.request(method: "POST"), from: .data(Content.pattern(8_000_003)))
            task.onProgress = { told.append($0) }
            _ = try await trial.perform(task)
            try expectGrowth(of: told.elements.map(\.bytesSent), to: 8_000_003)
            try expect("The length told", told.elements.last?.bytesToSend, is: 8_000_003)
            try expect("The bytes received", told.elements.last?.bytesReceived, is: 6)
        },
        TransportExpectation("Progress counts decoded bytes, whose number no head tells", .decodedProgress) { trial in
            trial.server.route("/", .encoded(Content.gzip, "gzip"))
            let told = Collector<TransferProgress>()
            var task = TransportTask.data(trial.request())
            task.onProgress = { told.append($0) }
            _ = try await trial.perform(task)
            try expectGrowth(of: told.elements.map(\.bytesReceived), to: Int64(Content.text.count))
            try expect("The length told", told.elements.last?.bytesToReceive, is: nil)
        },
        TransportExpectation("Progress is told at the end of an empty body, too", .progress) { trial in
            trial.server.route("/", .status(200))
            let told = Collector<TransferProgress>()
            var task = TransportTask.data(trial.request())
            task.onProgress = { told.append($0) }
            _ = try await trial.perform(task)
            try expectGrowth(of: told.elements.map(\.bytesReceived), to: 0)
        },
        TransportExpectation("Progress is told on the Task that called perform, and seldom", .progress) { trial in
            trial.server.route("/", .large(byteCount: 64 << 20))
            let caller = TaskIdentity.current
            let callers = Collector<TaskIdentity>()
            var task = TransportTask.stream(trial.request()) { _ in }
            task.onProgress = { _ in callers.append(.current) }
            let time = try await duration { _ = try await trial.perform(task) }
            try expect(callers.count > 0, "No progress was told.")
            try expect(
                callers.elements.allSatisfy { $0 == caller }, "Another Task than the caller's told the progress.")
            let most = Int(time / .milliseconds(50) * 1.5) + 5
            try expect(callers.count <= most, "Progress was told \(callers.count) times in \(time).")
        },
        TransportExpectation("Timings stand in order within the time that the transfer took", .timings) { trial in
            trial.server.route("/", .delayed(.milliseconds(50), then: .large(byteCount: 100_000)))
            var response: TransportResponse?
            let time = try await duration { response = try await trial.get() }
            let timings = try unwrap(response?.timings, "There are no timings.")
            let firstByte = try unwrap(timings.firstByte, "The time of the first byte is missing.")
            let total = try unwrap(timings.total, "The total time is missing.")
            try expect(firstByte >= .milliseconds(45), "The first byte came after \(firstByte), before it was sent.")
            try expect(firstByte <= total, "The first byte came after \(firstByte), the last after \(total).")
            try expect(total <= time, "The total time is \(total) of \(time).")
        },
        TransportExpectation("A failure has the timings up to it", .timings) { trial in
            trial.server.route("/", .truncated(declared: 2000, sending: 1000))
            let failure = try await trial.failure(of: .data(trial.request()))
            try expect(failure.timings?.firstByte != nil, "The time of the first byte is missing.")
        },
        TransportExpectation(
            "Timings tell the parts of connecting, and whether there was a need to", .connectionTimings
        ) {
            trial in
            trial.server.respond { _ in .text("hello") }
            let first = try unwrap(try await trial.get().timings, "There are no timings.")
            let second = try unwrap(try await trial.get().timings, "There are no timings.")
            try expect("Whether the first connection was reused", first.connectionWasReused, is: false)
            try expect("Whether the second connection was reused", second.connectionWasReused, is: true)
            try expect("Whether a replay was made", second.wasReplayed, is: false)
            let connect = try unwrap(first.connect, "The time of connecting is missing.")
            let firstByte = try unwrap(first.firstByte, "The time of the first byte is missing.")
            try expect(connect <= firstByte, "The connection came about after the first byte.")
            try expect("The time of connecting without a need to", second.connect, is: nil)
            try expect("The remote address", first.remoteAddress, is: "127.0.0.1")
        },
        TransportExpectation("Timings count the bytes on the wire", .wireCounts) { trial in
            trial.server.route("/", .encoded(Content.gzip, "gzip"))
            let timings = try await trial.send(.data(Content.pattern(5000))).timings
            try expect("The bytes sent", timings?.bytesSent, is: 5000)
            try expect("The bytes received", timings?.bytesReceived, is: Int64(Content.gzip.count))
        },
    ]
}

private func expectGrowth(of counts: [Int64], to end: Int64) throws {
    try expect("The last count", counts.last, is: end)
    try expect(zip(counts, counts.dropFirst()).allSatisfy(<=), "The counts \(counts) do not only grow.")
}
