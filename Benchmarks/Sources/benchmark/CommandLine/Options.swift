/// What the command line asks for.
struct Options: Sendable {
    /// The names of benchmarks, or beginnings of names; all but the soak if there are none.
    var names: [String] = []
    /// How many rounds; `nil` is as many as each benchmark has of itself, or one if it has to be quick.
    var rounds: Int?
    /// Where the results are written as JSON.
    var json: String?
    /// Where the results are drawn.
    var svg: String?
    /// The folder in which curves are written as CSV and drawn.
    var curves: String?
    /// Whether it has to be done within a minute; that proves nothing but that all of it runs.
    var isQuick = false
    /// How long the soak takes.
    var minutes = 10.0
    /// The size of the large file; `nil` is 1,024 MiB, or 128 if it has to be quick.
    var mebibytes: Int?
    /// Whether only the names are wanted.
    var listsNames = false
    /// Whether only help is wanted.
    var wantsHelp = false

    /// How long a load is measured.
    var seconds: Double { isQuick ? 0.15 : 1 }
    /// The size of the large file in bytes.
    var fileSize: Int { (mebibytes ?? (isQuick ? 128 : 1024)) << 20 }

    static let help = """
        Usage: benchmark [NAME ...] [--rounds N] [--json FILE] [--svg FILE] [--curves FOLDER] [--quick]
                         [--minutes M] [--mebibytes N] [--list]

          NAME        a benchmark or the beginning of its name; all but the soak without one
          --rounds N  interleaved rounds; by default 5, or what the floors of a benchmark ask for
          --json FILE writes every sample, spread and verdict as JSON
          --svg FILE  draws the rates as bars
          --curves FOLDER
                      writes NAME.csv and NAME.svg there, of each benchmark that has curves
          --quick     one short round, under a minute: shows that it runs, proves no number
          --minutes M how long the soak takes; 10 by default
          --mebibytes N
                      the size of the large file; 1024 by default
          --list      prints the names

        Exit status: 0 when every floor is kept, 1 when one is missed (which does not count with --quick)
        or a benchmark fails (they are named last), 2 when it cannot run at all.
        """

    /// Reads the arguments after the program's name.
    ///
    /// - Throws: A ``BenchmarkError`` for one that it does not know.
    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--rounds": rounds = try Self.positive(rest.next(), of: argument, Int.init)
            case "--minutes": minutes = try Self.positive(rest.next(), of: argument, Double.init)
            case "--mebibytes": mebibytes = try Self.positive(rest.next(), of: argument, Int.init)
            case "--json": json = try Self.value(rest.next(), of: argument)
            case "--svg": svg = try Self.value(rest.next(), of: argument)
            case "--curves": curves = try Self.value(rest.next(), of: argument)
            case "--quick": isQuick = true
            case "--list": listsNames = true
            case "--help", "-h": wantsHelp = true
            case let option where option.hasPrefix("-"): throw BenchmarkError("\(option) is no option of benchmark")
            default: names.append(argument)
            }
        }
    }

    private static func value(_ value: String?, of option: String) throws -> String {
        guard let value else { throw BenchmarkError("\(option) needs a value") }
        return value
    }

    private static func positive<Number: Comparable & ExpressibleByIntegerLiteral>(
        _ text: String?, of option: String, _ parse: (String) -> Number?
    ) throws -> Number {
        guard let number = parse(try value(text, of: option)), number > 0 else {
            throw BenchmarkError("\(option) needs a number above 0")
        }
        return number
    }
}
