import Foundation

/// What one worker process is to do and to measure.
enum Order: Codable, Sendable {
    /// Many GETs by one client.
    case load(LoadOrder)
    /// One large file by one client.
    case file(FileOrder)
    /// The size of the process after many requests.
    case residue(LoadOrder)
    /// What a slow validation costs its neighbours.
    case slowValidation(LoadOrder)
    /// What an operation costs.
    case cost(CostOrder)
    /// Operations made, run and released again and again.
    case rounds(RoundsOrder)
    /// Operations in backoff.
    case waiting(WaitingOrder)
    /// What encoding costs.
    case encoding(EncodingOrder)
    /// A large file as a part of a multipart body.
    case multipart(MultipartOrder)
    /// Operations that depend on others.
    case queue(QueueOrder)
    /// Requests that wait for a place of their queue.
    case held(HeldOrder)
    /// Many GETs by a program.
    case tool(ToolOrder)
    /// Many processes and a server that fails, in virtual time.
    case simulation(SimulationOrder)
    /// Mixed traffic with faults.
    case soak(SoakOrder)

    /// Does it, in this process, on the main thread.
    func carryOut() throws -> Sample {
        switch self {
        case .load(let order): try order.carryOut()
        case .file(let order): try order.carryOut()
        case .residue(let order): try order.measureResidue()
        case .slowValidation(let order): try order.measureSlowValidation()
        case .cost(let order): order.carryOut()
        case .rounds(let order): try order.carryOut()
        case .waiting(let order): try order.carryOut()
        case .encoding(let order): try order.carryOut()
        case .multipart(let order): try order.carryOut()
        case .queue(let order): order.carryOut()
        case .held(let order): order.carryOut()
        case .tool(let order): try order.carryOut()
        case .simulation(let order): order.carryOut()
        case .soak(let order): try order.carryOut()
        }
    }
}

/// Why a benchmark has no result, as a sentence.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
