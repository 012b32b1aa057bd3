import Foundation

/// Reads the command line; returns the exit status.
func benchmark(_ arguments: [String]) -> Int32 {
    if arguments.count == 2, arguments[0] == Worker.argument { return Worker.main(arguments[1]) }
    do {
        let options = try Options(arguments)
        if options.wantsHelp {
            print(Options.help)
        } else if options.listsNames {
            for benchmark in Catalogue(options: options).all { print(benchmark.name + ": " + benchmark.title) }
        } else {
            return try Coordinator(options: options).run()
        }
        return 0
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        return 2
    }
}

exit(benchmark(Array(CommandLine.arguments.dropFirst())))
