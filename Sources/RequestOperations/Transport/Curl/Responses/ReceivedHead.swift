#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The head of a response as the driver thread received it.
    struct ReceivedHead: Sendable {
        let status: Int
        let version: HTTPVersion?
        let block: HeaderBlock
    }
#endif
