#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// When something is due for one transfer; the driver looks at all of them when the earliest may be. Times are those of
    /// `CurlLibrary.now`.
    struct TransferDeadlines {
        /// The connection that is being made must stand by then.
        var connect: Int64?
        /// A rejected response is read no longer than until then.
        var drain: Int64?
        /// When bytes last went either way.
        var activity: Int64 = 0
        /// The driver looks then how far the body of the request has come.
        var look = Int64.max
        /// The bytes sent when that was last asked for.
        var sent: Int64 = 0
        /// How many bytes the other side had not received then; -1 if that was not known.
        var unreceived: Int64 = -1
        /// Progress that came too soon after the last is reported then.
        var progress: Int64?
        var lastProgress: Int64 = 0

        /// The least time between two reports of progress.
        static let progressInterval: Int64 = 50_000_000
    }
#endif
