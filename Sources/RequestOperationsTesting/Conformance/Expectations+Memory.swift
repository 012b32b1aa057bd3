import Foundation

extension TransportExpectation {
    /// The memory that large bodies use.
    static let memory: [TransportExpectation] = [
        TransportExpectation(
            "A body of 256 MiB goes to its file within bounded memory", .boundedMemory, isCheckedAlone: true
        ) {
            trial in
            let length = 256 << 20
            trial.server.route("/", .large(byteCount: length))
            try await trial.expectBoundedMemory(of: .download(trial.request(), to: trial.file()))
            let size = try trial.file().resourceValues(forKeys: [.fileSizeKey]).fileSize
            try expect("The size of the file", size, is: length)
        },
        TransportExpectation("A file of 160 MiB is sent within bounded memory", .boundedMemory, isCheckedAlone: true) {
            trial in
            let length = 160 << 20
            trial.server.route("/", .text("thanks"))
            try Data().write(to: trial.file())
            try FileHandle(forWritingTo: trial.file()).truncate(atOffset: UInt64(length))
            try await trial.expectBoundedMemory(
                of: .upload(trial.request(method: "POST"), from: .file(trial.file())))
            try expect("The number of bytes sent", trial.server.requests.last?.bodyByteCount, is: length)
        },
    ]
}

extension TransportTrial {
    /// Expects that a transfer does not make the process grow by more than 96 MiB. Other code in the process may grow
    /// at the same time, so there are three attempts.
    fileprivate func expectBoundedMemory(of task: TransportTask) async throws {
        var growths: [Int] = []
        while growths.count < 3 {
            let before = ResidentMemory.now
            let seen = Collector<Int>()
            var task = task
            task.onProgress = { _ in seen.append(ResidentMemory.now) }
            _ = try await perform(task)
            let growth = (seen.elements + [ResidentMemory.now]).reduce(0, max) - before
            if growth < 96 << 20 { return }
            growths.append(growth >> 20)
        }
        throw ConformanceFailure("The process grew by \(growths) MiB.")
    }
}
