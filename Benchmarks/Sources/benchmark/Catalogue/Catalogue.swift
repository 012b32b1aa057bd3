/// All benchmarks, in the order in which they run.
struct Catalogue {
    /// How long, how large, how many.
    let options: Options

    /// All of them.
    var all: [Benchmark] {
        [cost, rounds, waiting] + queues + [simulation, outages] + loads + files + encodings + others + [tool, soak]
    }

    /// Those that the command line names; all but the soak if it names none.
    ///
    /// - Throws: A ``BenchmarkError`` for a name that none begins with.
    func chosen() throws -> [Benchmark] {
        let all = all
        if options.names.isEmpty { return all.filter { $0.name != soak.name } }
        for name in options.names where !all.contains(where: { $0.name.hasPrefix(name) }) {
            throw BenchmarkError("\(name) is no benchmark; those there are: " + all.map(\.name).joined(separator: " "))
        }
        return all.filter { benchmark in
            options.names.contains(benchmark.name)
                || options.names.contains { name in
                    benchmark.name.hasPrefix(name) && !all.contains { $0.name == name }
                }
        }
    }
}
