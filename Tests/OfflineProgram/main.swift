import OfflineRequests
import RequestOperations

// The arguments are a directory, a command, and the URL of a server. `add` and `both` take the first number, how many,
// the number of lanes, and a prefix of names. Each acknowledged request is printed at once.
// The environment variable OFFLINE_PROGRAM_LEASE sets the lease, in seconds; 4 by default.

/// Prints a line that is there even if the process is killed right after.
@Sendable func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

func request(_ url: URL, _ name: String) -> URLRequest {
    var request = URLRequest(url: url.appendingPathComponent(name))
    request.httpMethod = "POST"
    request.httpBody = Data(name.utf8)
    return request
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let url = URL(string: arguments[3]) else { exit(2) }
if arguments[2].hasPrefix("measure-") {
    let directory = URL(fileURLWithPath: arguments[1])
    switch arguments[2] {
    case "measure-adds": try await Measure.adds(in: directory)
    case "measure-populate": try await Measure.populate(Int(arguments[3]) ?? 1000, in: directory)
    #if PostgreSQL
        case "measure-database": try await Measure.database(Int(arguments[3]) ?? 10_000)
    #endif
    default: try await Measure.opening(in: directory)
    }
    exit(0)
}
var configuration = OfflineConfiguration()
configuration.backoff = .constant(.milliseconds(50))
let lease = ProcessInfo.processInfo.environment["OFFLINE_PROGRAM_LEASE"].flatMap { Int($0) }
configuration.leaseDuration = .seconds(lease ?? 4)
let queue = try await OfflineRequestQueue.open(
    name: "program", directory: URL(fileURLWithPath: arguments[1]), configuration: configuration)

switch arguments[2] {
case "add", "both":
    // `add` only adds. `both` delivers meanwhile.
    if arguments[2] == "add" { queue.pause() }
    guard arguments.count == 8, let first = Int(arguments[4]), let count = Int(arguments[5]),
        let lanes = Int(arguments[6])
    else { exit(2) }
    let prefix = arguments[7]
    await withTaskGroup(of: Void.self) { group in
        for lane in 0..<lanes {
            group.addTask {
                for number in stride(from: first + lane, to: first + count, by: lanes) {
                    let name = "\(prefix)-\(lane)-\(number)"
                    do {
                        let id = try await queue.add(
                            request(url, name), options: OfflineOptions(lane: "\(prefix)-\(lane)"))
                        report("acknowledged \(name) \(id)")
                    } catch {
                        report("failed \(name) \(error)")
                    }
                }
            }
        }
    }
    report("added")
    if arguments[2] == "both" { try await queue.drain() }
case "fill":
    // Fills a small disk, makes room, and adds again.
    queue.pause()
    let ballast = URL(fileURLWithPath: arguments[1]).appendingPathComponent("ballast")
    try Data(count: 512 << 10).write(to: ballast)
    var count = 0
    do {
        while true {
            var large = request(url, "\(count)")
            large.httpBody = Data(count: 10 << 10)
            try await queue.add(large)
            count += 1
        }
    } catch {
        report("refused \(OfflineQueueError.Code.diskFull ~= error) \(try await queue.counts.pending == count)")
    }
    try FileManager.default.removeItem(at: ballast)
    try await queue.add(request(url, "again"))
    report("again \(try await queue.counts.pending == count + 1)")
case "run":
    report("running")
    try await queue.drain()
default:
    exit(2)
}
report("drained")
await queue.close()
