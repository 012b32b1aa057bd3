import Foundation

extension TransportExpectation {
    /// The time limits, which must be kept to fractions of a second.
    static let timeLimits: [TransportExpectation] = [
        TransportExpectation("A server that never answers trips the idle limit", .timeLimits) { trial in
            trial.server.route("/", .stall)
            let failure = try await trial.timeOut(of: .data(trial.request()), idle: .milliseconds(900), in: .head)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: true)
            try await trial.closedConnections()
        },
        TransportExpectation("An idle limit below a second is not rounded up to one", .timeLimits) { trial in
            trial.server.route("/", .stall)
            try await expectPrecision { limit in
                let failure = try await trial.failure(of: limited(.data(trial.request()), idle: limit))
                try expect("The code", (failure.error as? RequestError)?.code, is: .timedOut)
            }
        },
        TransportExpectation("A body that stalls trips the idle limit, its head is kept", .timeLimits) { trial in
            trial.server.route("/", .stallBody(after: 1000, of: 2000))
            let failure = try await trial.timeOut(of: .data(trial.request()), idle: .milliseconds(900), in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
            try await trial.closedConnections()
        },
        TransportExpectation("An upload that nobody reads trips the idle limit", .uploadTimeLimits) { trial in
            trial.server.route("/", .withoutReadingBody(.stall))
            let source = Source(Content.pattern(1 << 16), times: 1024)
            let task = TransportTask.upload(
                trial.request(method: "POST"), from: .stream(source.stream(length: 64 << 20)))
            _ = try await trial.timeOut(of: task, idle: .milliseconds(900), in: .request)
        },
        TransportExpectation("A body that drips does not trip the idle limit", .timeLimits) { trial in
            trial.server.route("/", .drip(Content.pattern(120), chunk: 10, every: .milliseconds(300)))
            // The whole body takes longer than the limit. No single piece takes nearly as long.
            try await oneOfFiveTries {
                let response = try await trial.perform(limited(.data(trial.request()), idle: .seconds(2.5)))
                try expect("The body", response.body, is: Content.pattern(120))
            }
        },
        TransportExpectation("An answer within a limit of a fraction of a second is in time", .timeLimits) { trial in
            trial.server.route("/", .delayed(.milliseconds(150), then: .text("hello")))
            try await oneOfFiveTries {
                let response = try await trial.perform(
                    limited(.data(trial.request()), connect: .milliseconds(900), idle: .milliseconds(900)))
                try expect("The body", response.body, is: Data("hello".utf8))
            }
        },
        TransportExpectation("The limit of connecting does not count once connected", .timeLimits) { trial in
            trial.server.route("/", .delayed(.seconds(2.5), then: .text("hello")))
            try await oneOfFiveTries {
                let response = try await trial.perform(
                    limited(.data(trial.request()), connect: .seconds(2), idle: .seconds(20)))
                try expect("The body", response.body, is: Data("hello".utf8))
            }
        },
        TransportExpectation("A transfer without limits is carried out", .timeLimits) { trial in
            trial.server.route("/", .delayed(.milliseconds(50), then: .text("hello")))
            var task = limited(.data(trial.request()), connect: nil, idle: nil)
            task.limits.maximumBodySize = nil
            try expect("The body", try await trial.perform(task).body, is: Data("hello".utf8))
        },
        TransportExpectation("The time that a consumer takes is not idle time", .pausesAreNotIdle) { trial in
            trial.server.route("/", .large(byteCount: 16 << 20))
            try await oneOfFiveTries {
                let pieces = Collector<Void>()
                let task = TransportTask.stream(trial.request()) { _ in
                    if pieces.count(appending: ()) == 1 { try await Task.sleep(for: .seconds(3)) }
                }
                let response = try await trial.perform(limited(task, idle: .seconds(2)))
                try expect("The size", response.bodySize, is: 16 << 20)
            }
        },
        TransportExpectation("A connection that does not come about trips the limit of connecting", .connectLimit) {
            trial in
            let port = try UnansweredPort()
            let url = try unwrap(URL(string: "http://127.0.0.1:\(port.number)/"), "The port makes no URL.")
            try await expectPrecision { limit in
                let failure = try await trial.expectFailure(
                    of: limited(.data(URLRequest(url: url)), connect: limit), .timedOut, in: .connect)
                try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: false)
            }
            withExtendedLifetime(port) {}
        },
    ]

    /// Expects that twenty limits of 15 ms end something within fifteen seconds, though a busy machine is late. A
    /// transport that rounds up to whole seconds needs twenty.
    static func expectPrecision(of work: (Duration) async throws -> Void) async throws {
        let limit = Duration.milliseconds(15)
        let time = try await duration { for _ in 1...20 { try await work(limit) } }
        try expect(time >= limit * 20 * 0.7, "Twenty limits of \(limit) were over after \(time).")
        try expect(time < .seconds(15), "Twenty limits of \(limit) were kept after \(time).")
    }

    fileprivate static func limited(
        _ task: TransportTask, connect: Duration? = .seconds(10), idle: Duration? = .seconds(20)
    ) -> TransportTask {
        var task = task
        task.limits.connect = connect
        task.limits.idle = idle
        return task
    }
}

extension TransportTrial {
    /// Expects that a task fails after the idle limit: not much earlier, and not as late as a default of twenty
    /// seconds.
    fileprivate func timeOut(
        of task: TransportTask, idle: Duration, in phase: TransferFailure.Phase
    ) async throws -> TransferFailure {
        var failure: TransferFailure?
        try await oneOfFiveTries {
            let time = try await duration {
                failure = try await expectFailure(
                    of: TransportExpectation.limited(task, idle: idle), .timedOut, in: phase)
            }
            try expect(time > idle * 0.7 && time < idle + .seconds(12), "The limit of \(idle) was kept after \(time).")
        }
        return try unwrap(failure, "There is no failure.")
    }
}
