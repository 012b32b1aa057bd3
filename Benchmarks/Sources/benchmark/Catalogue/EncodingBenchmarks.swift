import Foundation

extension Catalogue {
    /// What encoding costs, and a large multipart body.
    var encodings: [Benchmark] {
        [form, multipart]
    }

    private var form: Benchmark {
        let subjects = EncodingOrder.Subject.allCases
        return Benchmark(
            name: "form", title: "Encoding of a query, a record and a dictionary as JSON and as a form",
            measures: [.cpu], hasRatios: false,
            floors: subjects.map { subject in
                Floor(name: "CPU of the form / of JSON, \(subject)", bound: .atMost(2)) {
                    $0.ratio(.cpu, of: "form-\(subject)", to: "json-\(subject)")
                }
            }
        ) { _ in
            subjects.flatMap { subject in
                EncodingOrder.Encoder.allCases.map { encoder in
                    Contender(
                        name: "\(encoder)-\(subject)", title: "\(encoder.title), \(subject)",
                        order: .encoding(
                            EncodingOrder(
                                encoder: encoder, subject: subject,
                                repetitions: (options.isQuick ? 2000 : 50_000) / (subject == .dictionary ? 10 : 1))))
                }
            }
        }
    }

    private var multipart: Benchmark {
        Benchmark(
            name: "multipart", title: "Upload of a file as a part of a multipart body, \(options.fileSize >> 20) MiB",
            rounds: 3, measures: [.growth, .peak, .throughput, .cpuSeconds],
            floors: [
                // At rest this program alone takes 40 MB, most of which are the peers that it is linked with.
                Floor(name: "peak above rest, in MB", bound: .atMost(10)) {
                    $0.value(.growth, of: ClientKind.operation.rawValue)
                }
            ]
        ) { testbed in
            let server = try testbed.server()
            return [
                Contender(
                    name: ClientKind.operation.rawValue, title: ClientKind.operation.title,
                    order: .multipart(MultipartOrder(pages: server.pages.path, server: server.url(""))))
            ]
        }
    }
}

extension EncodingOrder.Encoder {
    /// The name in tables.
    fileprivate var title: String {
        switch self {
        case .json: "JSONEncoder"
        case .sortedJSON: "JSONEncoder, sorted keys"
        case .form: "URLEncodedFormEncoder"
        }
    }
}
