import OfflineRequests
import RequestOperations

// Commands: `add URL COUNT LANES`, `run URL`, and `both`. The queue is in the directory of the first argument. Each
// acknowledged id is printed at once, with what was sent. See `OfflineProcess` in the tests.

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
var configuration = OfflineConfiguration()
configuration.backoff = .constant(.milliseconds(50))
configuration.leaseDuration = .milliseconds(1500)
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
case "run":
    report("running")
    try await queue.drain()
default:
    exit(2)
}
report("drained")
await queue.close()
