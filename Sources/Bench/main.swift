import RequestOperations
import RequestOperationsTesting
import Dispatch

final class Bare: Operation, @unchecked Sendable {
    let l = Locked2()
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { l.ex }
    override var isFinished: Bool { l.fi }
    override func start() {
        l.ex = true
        DispatchQueue.global().async { countDown.one(); self.l.ex = false; self.l.fi = true; self.didChangeValue(forKey: "isFinished") }
    }
}
final class Locked2: @unchecked Sendable { private let k = NSLock(); private var a = false, b = false
    var ex: Bool { get { k.lock(); defer { k.unlock() }; return a } set { k.lock(); a = newValue; k.unlock() } }
    var fi: Bool { get { k.lock(); defer { k.unlock() }; return b } set { k.lock(); b = newValue; k.unlock() } } }
final class CountDown: @unchecked Sendable { private let k = NSLock(); var n = 0; let s = DispatchSemaphore(value: 0)
    func one() { k.lock(); n -= 1; let z = n == 0; k.unlock(); if z { s.signal() } } }
let countDown = CountDown()
struct Counting: Transport {
    let url: URL
    func perform(_ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void) async throws -> TransportResponse {
        let head = ResponseHead(status: 200, url: task.request.url!)
        try onHead(head)
        countDown.one()
        return TransportResponse(head: head, body: Data([1]))
    } }
func cpu() -> Double { var r = rusage(); getrusage(__rusage_who_t(0), &r); return Double(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + Double(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6 }
func rss() -> Int { let s = try! String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "); return Int(s[1])! * 4 }
let n = Int(CommandLine.arguments.dropFirst().first ?? "100000")!
let url = URL(string: "http://example.com/a")!
var c = RequestConfiguration.default
c.transport = Counting(url: url)
c.adapters = [.header("A", "b")]
func measure(_ name: String, _ make: () -> Operation) {
    let q = OperationQueue(); q.maxConcurrentOperationCount = 64; q.isSuspended = true
    let r0 = rss(); let c0 = cpu()
    for _ in 0..<n { q.addOperation(make()) }
    let r1 = rss(); let c1 = cpu(); let t0 = ContinuousClock.now
    countDown.n = n; q.isSuspended = false; countDown.s.wait(); q.waitUntilAllOperationsAreFinished()
    print(name, "create µs", (c1 - c0) / Double(n) * 1e6, "run µs", (cpu() - c1) / Double(n) * 1e6, "KB/op", Double(r1 - r0) / Double(n), "wall µs", (ContinuousClock.now - t0) / n)
}
sizes()
let mode = CommandLine.arguments.dropFirst(2).first ?? "all"
for _ in 0..<2 {
    if mode == "all" || mode == "bare" { measure("bare") { Bare() } }
    if mode == "all" || mode == "ours" { measure("ours") { URLRequestOperation(URLRequest(url: url), configuration: c) } }
    if mode == "all" || mode == "task" {
    let done = DispatchSemaphore(value: 0)
    Task { measure("in task") { URLRequestOperation(URLRequest(url: url), configuration: c) }; done.signal() }
    done.wait()
    }
}
final class Sub: URLRequestOperation<Data>, @unchecked Sendable {
    override func process(_ request: URLRequest) async throws -> URLRequest { try await super.process(request) }
    override func decode(_ response: TransportResponse) async throws -> Data { response.body }
    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision { .stop }
}
let sub = Sub(URLRequest(url: url), decoder: .data, configuration: c)
