import Foundation

extension TransportExpectation {
    /// Cancelling the Task that called `perform`, at each point of a transfer.
    static let cancellation: [TransportExpectation] = [
        TransportExpectation("A Task that is cancelled already sends nothing", .cancellation) { trial in
            trial.server.respond { _ in .text("hello") }
            let begin = Door()
            let transfer = Task {
                await begin.pass()
                return try await trial.perform(.data(trial.request("/cancelled")))
            }
            transfer.cancel()
            begin.open()
            try await trial.expectCancellation(of: transfer)
            _ = try await trial.get("/fence")
            try expect("The requests", trial.server.requests.map(\.path), is: ["/fence"])
        },
        TransportExpectation("Cancelling while the connection is made ends the transfer", .cancellationInTransit) {
            trial in
            let port = try UnansweredPort()
            let url = try unwrap(URL(string: "http://127.0.0.1:\(port.number)/"), "The port makes no URL.")
            let transfer = trial.start(.data(URLRequest(url: url)))
            // A test cannot see when the transport begins to connect. If it begins later than this, the case above is
            // tested.
            try await Task.sleep(for: .milliseconds(100))
            try await trial.expectCancelled(transfer)
            withExtendedLifetime(port) {}
        },
        TransportExpectation("Cancelling before the head closes the connection", .cancellation) { trial in
            trial.server.route("/", .stall)
            let transfer = trial.start(.data(trial.request()))
            try await trial.server.requests(atLeast: 1)
            try await trial.expectConnectionClosed(byCancelling: transfer)
        },
        TransportExpectation("Cancelling in the body closes the connection", .cancellation) { trial in
            trial.server.route("/", .stallBody(after: 1000, of: 2000))
            let begun = Door()
            let transfer = trial.start(.data(trial.request())) { _ in begun.open() }
            try expect(await begun.isOpen(within: trial.patience), "No head was reported.")
            try await trial.expectConnectionClosed(byCancelling: transfer)
        },
        TransportExpectation("Cancelling while bytes flow ends the transfer", .cancellationInTransit) { trial in
            trial.server.route("/", .endless(chunk: Content.pattern(10_000)))
            try await trial.expectCancelled(try await trial.flowingTransfer())
        },
        TransportExpectation("Cancelling in onHead delivers nothing and closes the connection", .cancellation) {
            trial in
            trial.server.route("/", .stallBody(after: 1000, of: 2000))
            let pieces = Collector<Void>()
            let transfer = trial.start(.stream(trial.request()) { _ in pieces.append(()) }) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
            try await trial.expectCancellation(of: transfer)
            try expect("The number of pieces", pieces.count, is: 0)
            try await trial.closedConnections()
        },
        TransportExpectation(
            "Cancelling during an upload closes the connection, the body incomplete", .cancellationInTransit
        ) {
            trial in
            let flows = Door()
            let source = Source { index in
                if index == 20 { flows.open() }
                return Content.pattern(10_000)
            }
            let transfer = trial.start(.upload(trial.request(method: "POST"), from: .stream(source.stream())))
            try expect(await flows.isOpen(within: trial.patience), "The body did not flow.")
            try await trial.expectCancelled(transfer)
            try await trial.expectNoWholeBody()
        },
        TransportExpectation("Cancelling while a source waits ends the transfer without it", .sourceCancellation) {
            trial in
            let waits = Door()
            let mayEnd = Door()
            let source = Source { index in
                guard index > 0 else { return Content.pattern(10_000) }
                waits.open()
                await mayEnd.pass()
                return nil
            }
            let transfer = trial.start(.upload(trial.request(method: "POST"), from: .stream(source.stream())))
            defer { mayEnd.open() }
            try expect(await waits.isOpen(within: trial.patience), "The source was not read.")
            try await trial.expectCancelled(transfer)
            try await trial.expectNoWholeBody()
        },
        TransportExpectation("Cancelling while a rejected body is read ends the transfer", .cancellationInTransit) {
            trial in
            trial.server.route("/", .stallBody(after: 1000, of: 2000))
            var task = TransportTask.data(trial.request())
            task.limits.errorBodyTimeLimit = .seconds(20)
            let rejected = Door()
            let transfer = trial.start(task) { _ in
                rejected.open()
                throw Rejection()
            }
            try expect(await rejected.isOpen(within: trial.patience), "No head was reported.")
            try await trial.expectConnectionClosed(byCancelling: transfer)
        },
        TransportExpectation("Cancelling one transfer leaves the others alone", .cancellationInTransit) { trial in
            let gate = LoopbackServer.Gate()
            trial.server.respond { _ in .pattern(1000, of: 2000, restAfter: gate) }
            let transfers = (0..<10).map { trial.start(.data(trial.request("/\($0)"))) }
            try await trial.server.requests(atLeast: 10)
            for transfer in transfers[..<5] { try await trial.expectCancelled(transfer) }
            gate.open()
            for transfer in transfers[5...] {
                try expect(try await transfer.value.body == Content.pattern(2000), "A body came changed.")
            }
        },
        TransportExpectation("Nothing is sent after a cancel", .cancellation) { trial in
            trial.server.route("/stalled", .stall)
            trial.server.route("/fence", .text("hello"))
            for count in 1...5 {
                let transfer = trial.start(.data(trial.request("/stalled")))
                try await trial.server.requests(atLeast: count)
                try await trial.expectCancelled(transfer)
            }
            _ = try await trial.get("/fence")
            let paths = trial.server.requests.map(\.path)
            try expect("The requests", paths, is: Array(repeating: "/stalled", count: 5) + ["/fence"])
        },
        TransportExpectation(
            "A cancel that comes with the end of the body ends the transfer one way or the other", .cancellation
        ) {
            trial in
            trial.server.respond { _ in .text("hello") }
            for _ in 1...100 {
                let transfer = trial.start(.data(trial.request()))
                await Task.yield()
                transfer.cancel()
                switch await transfer.result {
                case .success(let response): try expect("The body", response.body, is: Data("hello".utf8))
                case .failure(let error): try expect(error is CancellationError, "\(error) was thrown.")
                }
            }
            try expect("The body after all", try await trial.get().body, is: Data("hello".utf8))
        },
    ]
}

extension TransportTrial {
    /// Cancels a transfer and expects that it soon ends as cancelled.
    func expectCancelled(_ transfer: Task<TransportResponse, any Error>) async throws {
        transfer.cancel()
        try await expectCancellation(of: transfer)
    }

    /// Expects that a transfer that has been or will be cancelled soon ends as cancelled.
    fileprivate func expectCancellation(of transfer: Task<TransportResponse, any Error>) async throws {
        let ended = Door()
        let watcher = Task {
            defer { ended.open() }
            return await transfer.result
        }
        try expect(await ended.isOpen(within: patience), "The transfer had not ended \(patience) after the cancel.")
        switch await watcher.value {
        case .success: throw ConformanceFailure("The transfer succeeded in spite of the cancel.")
        case .failure(let error): try expect(error is CancellationError, "\(error) was thrown, not CancellationError.")
        }
    }

    /// Expects that a cancel soon ends the transfer and its connection.
    func expectConnectionClosed(byCancelling transfer: Task<TransportResponse, any Error>) async throws {
        let instant = ContinuousClock.now
        try await expectCancelled(transfer)
        for connection in try await closedConnections() {
            let byClient = connection.end == .closedByPeer || connection.end == .resetByPeer
            try expect(byClient, "The connection ended otherwise than by the client.")
            let time = connection.endInstant.map(instant.duration) ?? .zero
            try expect(time < patience, "The connection was closed \(time) after the cancel.")
        }
    }

    /// A transfer of an unlimited body, after twenty pieces have been delivered.
    func flowingTransfer() async throws -> Task<TransportResponse, any Error> {
        let flows = Door()
        let pieces = Collector<Void>()
        var task = TransportTask.stream(request()) { _ in
            if pieces.count(appending: ()) == 20 { flows.open() }
        }
        task.limits.maximumBodySize = nil
        let transfer = start(task)
        try expect(await flows.isOpen(within: patience), "The body did not flow.")
        return transfer
    }
}
