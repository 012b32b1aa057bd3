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
        var failures: [String] = []
        for benchmark in benchmarks {
            let contenders = try benchmark.contenders(testbed)
            let outcome: Outcome
            do {
                outcome = try run(benchmark, contenders, in: testbed)
            } catch let error as BenchmarkError {
                // The others still have something to say.
                print("\(benchmark.name): \(benchmark.title)\n  ✗ FAILED \(error)\n")
                failures.append(benchmark.name)
                continue
            }
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
        if let folder = options.curves {
            for outcome in outcomes {
                let path = folder + "/" + outcome.benchmark.name
                try CurveTable(outcome)?.description.write(toFile: path + ".csv", atomically: true, encoding: .utf8)
                try CurveChart(outcome)?.description.write(toFile: path + ".svg", atomically: true, encoding: .utf8)
            }
        }
        return judge(outcomes, failures)
    }

    /// A round is every contender once, so that what else the machine does meets all of them. Each begins with another one: what
    /// a contender leaves behind, such as memory that the host takes back, does not always meet the same of them.
    private func run(_ benchmark: Benchmark, _ contenders: [Contender], in testbed: Testbed) throws -> Outcome {
        let count = options.rounds ?? (options.isQuick ? 1 : benchmark.rounds)
        var rounds: [Round] = []
        for first in 0..<count {
            var round = Round(processorDistance: Machine.processorDistance)
            for place in contenders.indices {
                let contender = contenders[(first + place) % contenders.count]
                do {
                    round.samples[contender.name] = try Worker.carryOut(
                        contender.order, environment: testbed.environment)
                } catch let error as BenchmarkError {
                    throw BenchmarkError("\(contender.title): \(error)")
                }
            }
            rounds.append(round)
        }
        return Outcome(benchmark: benchmark, contenders: contenders, rounds: rounds)
    }

    /// Names what was missed and what failed; returns the exit status.
    private func judge(_ outcomes: [Outcome], _ failures: [String]) -> Int32 {
        let verdicts = outcomes.flatMap(\.verdicts)
        let missed = verdicts.filter { !$0.isKept }
        print("\(verdicts.count - missed.count) of \(verdicts.count) floors are kept")
        for verdict in missed { print("  missed: \(verdict.benchmark): \(verdict.floor.name)") }
        for name in failures { print("  failed: \(name)") }
        // A short round proves no number.
        return failures.isEmpty && (missed.isEmpty || options.isQuick) ? 0 : 1
    }
}
