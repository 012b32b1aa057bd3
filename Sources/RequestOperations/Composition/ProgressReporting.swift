/// An operation that says how far it has come.
protocol ProgressReporting {
    var progressUpdates: AsyncStream<ProgressUpdate> { get }
}

extension URLRequestOperation: ProgressReporting {}
extension RequestBatch: ProgressReporting {}
extension RequestGroup: ProgressReporting {}
extension StepChain: ProgressReporting {}
extension RequestChain: ProgressReporting {}
