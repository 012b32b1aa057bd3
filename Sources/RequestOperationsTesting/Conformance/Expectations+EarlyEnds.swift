import Foundation

extension TransportExpectation {
    /// Transfers that end while the server is busy sending or receiving. The server must notice at once.
    static let earlyEnds: [TransportExpectation] = [
        TransportExpectation("A body beyond the limit of its size is given up, most of it unread", .closingInFlow) {
            trial in
            trial.server.route("/", .large(byteCount: 256 << 20))
            var task = TransportTask.data(trial.request())
            task.limits.maximumBodySize = 1000
            try await trial.expectFailure(of: task, .bodyTooLarge, in: .body)
            try await trial.expectGivenUp()
        },
        TransportExpectation("A body whose consumer throws is given up, most of it unread", .closingInFlow) { trial in
            trial.server.route("/", .large(byteCount: 256 << 20))
            _ = try await trial.failure(of: .stream(trial.request()) { _ in throw Rejection() })
            try await trial.expectGivenUp()
        },
        TransportExpectation("A rejected body beyond the limit is given up, most of it unread", .closingInFlow) {
            trial in
            trial.server.route("/", .large(byteCount: 1 << 30))
            let failure = try await trial.rejection()
            try expect("The first bytes of the body", failure.bodyPrefix, is: Content.pattern(4096))
            try await trial.expectGivenUp()
        },
        TransportExpectation("Cancelling while bytes flow closes the connection", .closingInFlow) { trial in
            trial.server.route("/", .endless(chunk: Content.pattern(10_000)))
            try await trial.expectConnectionClosed(byCancelling: try await trial.flowingTransfer())
        },
        TransportExpectation("Cancelling while the consumer works closes the connection at once", .closingInFlow) {
            trial in
            trial.server.route("/", .large(byteCount: 48 << 20))
            let works = Door()
            let mayEnd = Door()
            let transfer = trial.start(
                .stream(trial.request()) { _ in
                    works.open()
                    await mayEnd.pass()
                })
            defer { mayEnd.open() }
            try expect(await works.isOpen(within: trial.patience), "The consumer got nothing.")
            transfer.cancel()
            try await trial.closedConnections()
            mayEnd.open()
            try await trial.expectCancelled(transfer)
        },
    ]
}

extension TransportTrial {
    /// Expects that the connection ended and that the server sent no more than the buffers of two sockets hold.
    func expectGivenUp() async throws {
        let sent = try await closedConnections().map(\.bytesSent).reduce(0, +)
        try expect(sent < 24 << 20, "\(sent >> 20) MiB of the body were taken.")
    }
}
