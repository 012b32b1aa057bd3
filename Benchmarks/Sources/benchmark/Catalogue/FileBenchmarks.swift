import Foundation

extension Catalogue {
    /// One large file, down and up.
    var files: [Benchmark] {
        [
            file("download", "Download of a file to a file", .download),
            file("upload", "Upload of a file from a file", .upload),
        ]
    }

    private func file(_ name: String, _ title: String, _ direction: FileOrder.Direction) -> Benchmark {
        let ours = FileClientKind.operation.rawValue
        return Benchmark(
            name: name, title: "\(title), \(options.fileSize >> 20) MiB",
            measures: [.throughput, .cpuSeconds, .peak, .growth, .threads], isDrawn: true,
            floors: [
                Floor(name: "speed / that of curl", bound: .atLeast(1), aim: 1.25) {
                    $0.ratio(.throughput, of: ours, to: FileClientKind.curl.rawValue)
                },
                Floor(name: "CPU / that of URLSession", bound: .atMost(0.45)) {
                    $0.ratio(.cpuSeconds, of: ours, to: FileClientKind.session.rawValue)
                },
                Floor(name: "peak above rest, in MB", bound: .atMost(10)) { $0.value(.growth, of: ours) },
            ]
        ) { testbed in
            let server = try testbed.server()
            return FileClientKind.allCases.map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .file(
                        FileOrder(
                            client: client, direction: direction, pages: server.pages.path, server: server.url(""),
                            folder: testbed.folder.path)))
            }
        }
    }
}
