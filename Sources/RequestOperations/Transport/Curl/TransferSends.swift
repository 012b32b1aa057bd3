#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// How often a request was sent, and how often of these the server is known not to have processed it.
    struct TransferSends {
        private(set) var count = 0
        private(set) var refusedCount = 0
        private var judgedCount = 0

        /// A server that refuses the same request more often than that has no room for it.
        static let maximumRefusals = 5

        /// Whether the request was sent and not refused each time.
        var mayHaveBeenProcessed: Bool { count > refusedCount }

        /// Whether it may be sent again, after the last time was judged: at most once if it may have been processed.
        func allowAnother(isSafe: Bool) -> Bool {
            guard refusedCount < Self.maximumRefusals else { return false }
            return switch count - refusedCount {
            case 0: true
            case 1: isSafe
            default: false
            }
        }

        mutating func begin() {
            count += 1
        }

        /// Notes, once, what became of the last time.
        mutating func judge(wasRefused: @autoclosure () -> Bool) {
            guard judgedCount < count else { return }
            judgedCount = count
            if wasRefused() { refusedCount += 1 }
        }
    }
#endif
