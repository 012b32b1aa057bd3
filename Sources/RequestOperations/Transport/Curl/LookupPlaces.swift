#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The running look-ups, counted against ``LookupBounds``. Times are those of `CurlLibrary.now`.
    struct LookupPlaces {
        let bounds: LookupBounds
        /// How many look-ups there are, young and old.
        private(set) var count = 0
        private var young = 0
        /// The young look-ups, by the eighth of a second in which they began.
        private var youngByTime: [Int64: Int] = [:]

        /// How long a look-up is young.
        static let youth: Int64 = 1_000_000_000
        private static let interval = youth / 8

        init(_ bounds: LookupBounds) {
            self.bounds = bounds
        }

        /// Whether one more may begin.
        ///
        /// - Parameter isResolved: Whether its name was resolved before.
        func hasRoom(isResolved: Bool) -> Bool {
            isResolved ? count < bounds.all : young < bounds.young && count < bounds.unresolved
        }

        mutating func take(at now: Int64) {
            count += 1
            young += 1
            youngByTime[now / Self.interval, default: 0] += 1
        }

        /// - Parameter since: When the place was taken.
        mutating func giveBack(since: Int64) {
            endYouth(since: since)
            count -= 1
        }

        /// Gives back the place of a look-up that is no longer young.
        mutating func giveBackOld() {
            count -= 1
        }

        /// A look-up that nobody waits for goes on. It counts as old.
        mutating func endYouth(since: Int64) {
            let time = since / Self.interval
            guard let there = youngByTime[time] else { return }
            youngByTime[time] = there == 1 ? nil : there - 1
            young -= 1
        }

        /// Time has passed.
        mutating func age(at now: Int64) {
            guard nextAging <= now else { return }
            youngByTime = youngByTime.filter { Self.aging(of: $0.key) > now }
            young = youngByTime.values.reduce(0, +)
        }

        /// When the first of the young look-ups becomes old.
        var nextAging: Int64 { youngByTime.keys.min().map(Self.aging) ?? .max }

        private static func aging(of time: Int64) -> Int64 { (time + 1) * interval + youth }
    }
#endif
