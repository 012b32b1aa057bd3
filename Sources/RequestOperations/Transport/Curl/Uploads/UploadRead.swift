#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    enum UploadRead {
        /// This many bytes; 0 is the end.
        case bytes(Int)
        /// There is nothing yet. The source calls the driver when there is.
        case notYet
        case failed(any Error)
    }
#endif
