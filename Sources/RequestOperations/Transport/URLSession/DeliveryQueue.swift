#if canImport(FoundationNetworking)
    /// The delegate queue of a session of ours: a serial Dispatch queue with the interface that URLSession asks for.
    ///
    /// On Linux, Foundation adds a block to the session's `OperationQueue` for each call of a delegate. The smallest
    /// response takes three blocks. An operation for each block costs more than all the work of our delegate. Our
    /// delegate does not need priorities, dependencies or cancellation of operations.
    // Unchecked, like its superclass. It adds only the queue, which is a constant.
    final class DeliveryQueue: OperationQueue, @unchecked Sendable {
        private let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport.delivery", qos: .userInitiated)

        override init() {
            super.init()
            // The transport requires this of every session's queue.
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif

extension OperationQueue {
    /// The delegate queue for a session of ours. With `nil`, URLSession makes one itself.
    static var forDelivery: OperationQueue? {
        #if canImport(FoundationNetworking)
            DeliveryQueue()
        #else
            nil
        #endif
    }
}
