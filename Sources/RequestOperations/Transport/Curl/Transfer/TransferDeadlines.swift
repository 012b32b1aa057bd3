#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// When something is due for one transfer. The driver checks all of these when the earliest may be due. Times are
    /// those of `CurlLibrary.now`.
    struct TransferDeadlines {
        /// When the connection that is being made must be ready.
        var connect: Int64?
        /// Until when a rejected response is read.
        var drain: Int64?
        /// When bytes last went in either direction.
        var activity: Int64 = 0
        /// When the driver checks next how far the request's body has come.
        var nextUploadCheck = Int64.max
        /// How many bytes were sent at the last check.
        var sent: Int64 = 0
        /// How many bytes the other side had not received at the last check; -1 if that was not known.
        var unreceived: Int64 = -1
        /// When to report progress that came too soon after the last report.
        var progress: Int64?
        var lastProgress: Int64 = 0

        /// The shortest time between two reports of progress.
        static let progressInterval: Int64 = 50_000_000
    }
#endif
