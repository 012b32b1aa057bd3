extension Operation {
    /// Frees what Foundation on Linux keeps of a finished operation; elsewhere Foundation does so itself.
    func releaseCompletionBlock() {
        #if canImport(FoundationNetworking)
            completionBlock = nil
        #endif
    }
}
