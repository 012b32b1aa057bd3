import Foundation

/// Runs benchmarks in interleaved rounds, one worker after the other, and reports what came of them.
struct Coordinator {
    let options: Options

    /// Runs those that were asked for; returns the exit status.
    func run() throws -> Int32 {
        let benchmarks = try Catalogue(options: options).chosen()
        let testbed = try Testbed(options)
        defer { testbed.close() }
        let machine = Machine()
        var load = [Machine.load]
        print("\(machine)\nload average \(load[0])\n")
        fflush(nil)
        var outcomes: [Outcome] = []
        for benchmark in benchmarks {
            let outcome = try run(benchmark, in: testbed)
            print(OutcomeText(outcome: outcome))
            // Each as soon as it is known, whatever the output is.
            fflush(nil)
            outcomes.append(outcome)
            load.append(Machine.load)
        }
        print("load average \(load.joined(separator: " "))")
        if let path = options.json {
            try ReportFile(outcomes, machine: machine, loadAverage: load, isQuick: options.isQuick).write(to: path)
        }
        if let path = options.svg {
            try BarChart(outcomes).description.write(toFile: path, atomically: true, encoding: .utf8)
        }
        return judge(outcomes)
    }

    /// A round is every contender once, in the same order, so that what else the machine does meets all of them.
    private func run(_ benchmark: Benchmark, in testbed: Testbed) throws -> Outcome {
        let contenders = try benchmark.contenders(testbed)
        let count = options.rounds ?? (options.isQuick ? 1 : benchmark.rounds)
        var rounds: [Round] = []
        for _ in 0..<count {
            var round = Round()
            for contender in contenders {
                do {
                    round.samples[contender.name] = try Worker.carryOut(
                        contender.order, environment: testbed.environment)
                } catch {
                    throw BenchmarkError("\(benchmark.name), \(contender.title): \(error)")
                }
            }
            rounds.append(round)
        }
        return Outcome(benchmark: benchmark, contenders: contenders, rounds: rounds)
    }

    private func judge(_ outcomes: [Outcome]) -> Int32 {
        let verdicts = outcomes.flatMap(\.verdicts)
        let missed = verdicts.filter { !$0.isKept }
        guard !missed.isEmpty else {
            if !verdicts.isEmpty { print("all \(verdicts.count) floors are kept") }
            return 0
        }
        print("\(missed.count) of \(verdicts.count) floors are missed:")
        for verdict in missed { print("  \(verdict.benchmark): \(verdict.floor.name)") }
        return 1
    }
}
