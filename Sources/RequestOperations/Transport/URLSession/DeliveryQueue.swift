#if canImport(FoundationNetworking)
    /// The delegate queue of a session of ours: a serial queue of Dispatch in the shape that URLSession asks for.
    ///
    /// On Linux every call of a delegate is a block that Foundation adds to the session's `OperationQueue`, three of them for
    /// the smallest response. An operation for each costs more than all that our delegate does, and here nobody has a use
    /// for its priority, its dependencies or its being cancelled.
    // Unchecked, as its superclass is: it only has the queue, which is a constant.
    final class DeliveryQueue: OperationQueue, @unchecked Sendable {
        private let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport.delivery", qos: .userInitiated)

        override init() {
            super.init()
            // What the transport asks of every session's queue.
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif

extension OperationQueue {
    /// The delegate queue for a session of ours; `nil` has URLSession make one.
    static var forDelivery: OperationQueue? {
        #if canImport(FoundationNetworking)
            DeliveryQueue()
        #else
            nil
        #endif
    }
}
