import Foundation

extension Catalogue {
    /// The tool beside curl.
    var tool: Benchmark {
        let requests = options.isQuick ? 1000 : 20_000
        return Benchmark(
            name: "tool", title: "\(requests) GETs of 1 KiB by a program of the command line, 64 in flight",
            measures: [.rate, .cpu, .peak]
        ) { testbed in
            let server = try testbed.server()
            return ToolOrder.Program.allCases.map { program in
                Contender(
                    name: program.rawValue, title: program.title,
                    order: .tool(
                        ToolOrder(
                            program: program, page: server.url("1k"), requests: requests, concurrency: 64,
                            folder: testbed.folder.path)))
            }
        }
    }
}

extension ToolOrder.Program {
    /// The name in tables.
    fileprivate var title: String {
        switch self {
        case .curl: "curl -Z"
        case .urlrequest: "urlrequest run"
        }
    }
}
