import Foundation
import Synchronization

/// A process of its own for each measurement, so that processor time, memory and threads are those of one client: this
/// program, started again with a hidden argument.
enum Worker {
    /// The first argument of a worker; the order as JSON is the second.
    static let argument = "--worker"

    /// How often the coordinator looks at the number of threads.
    private static let interval = 0.05

    /// Has a new process carry out an order.
    ///
    /// - Throws: A ``BenchmarkError`` with what the worker wrote to standard error, if it failed.
    static func carryOut(_ order: Order, environment: [String: String]) throws -> Sample {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [argument, String(decoding: try JSONEncoder().encode(order), as: UTF8.self)]
        process.environment = environment
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let threads = ThreadWatch(process: process.processIdentifier, interval: interval)
        // Both are far shorter than what a pipe holds, so neither waits for the other.
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let line = answer.split(separator: UInt8(ascii: "\n")).last else {
            throw BenchmarkError("the worker ended with status \(process.terminationStatus): \(complaint)")
        }
        var sample = try JSONDecoder().decode(Sample.self, from: Data(line))
        sample.values[.threads] = threads.stop()
        return sample
    }

    /// The part of a worker: carries out the order of the arguments and prints the sample as one line.
    static func main(_ order: String) -> Int32 {
        do {
            let sample = try JSONDecoder().decode(Order.self, from: Data(order.utf8)).carryOut()
            print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return 1
        }
    }
}

/// Looks again and again at how many threads a process has.
private final class ThreadWatch: Sendable {
    // Dispatch sources are thread-safe, though not marked so on Linux.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer
    private let most = Mutex(0.0)

    init(process: Int32, interval: Double) {
        timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now(), repeating: interval)
        timer.setEventHandler { [weak self] in
            guard let threads = ProcessStatus(of: process)?.threads, !threads.isNaN else { return }
            self?.most.withLock { $0 = max($0, threads) }
        }
        timer.activate()
    }

    /// Ends the watch and returns the largest number.
    func stop() -> Double {
        timer.cancel()
        return most.withLock { $0 }
    }
}
