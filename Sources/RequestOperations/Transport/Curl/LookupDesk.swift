#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Combines look-ups: one of the transfers to a name looks it up, and the others are held until the name is known.
    ///
    /// libcurl starts a thread for each look-up, even for a hundred look-ups of the same name at the same time.
    /// ``LookupBounds`` limits how many run at a time. Look-ups whose transfers were given up count as old ones, since
    /// their threads go on.
    ///
    /// Names that were resolved before have places of their own. So they do not wait for names that were never
    /// resolved. A failed look-up ends only one transfer, since libcurl does not tell whether the name does not exist
    /// or the resolver is busy. With each failure, more of the others try at a time.
    struct LookupDesk {
        /// The state of a transfer with respect to its name.
        enum Stand: Equatable {
            /// The desk has nothing to do with it.
            case none
            /// The desk holds it, since others look the name up or too many other names are looked up.
            case held
            /// The desk let it go, and it is not known yet whether it needs a look-up. It has had a place since this
            /// time.
            case trying(since: Int64)
            /// libcurl makes it wait for a connection, so it looks up nothing for now.
            case waiting
            /// It looks the name up, and has had a place since this time.
            case lookingUp(since: Int64)
            /// It has ended, and its look-up goes on without it.
            case abandoned

            var isTrying: Bool { if case .trying = self { true } else { false } }
        }

        /// A name that some transfer did not know.
        final class Name {
            /// Until when libcurl remembers the name.
            fileprivate var knownUntil = Int64.min
            /// Until when libcurl remembers the name if the last look-up gave all addresses.
            fileprivate var answeredUntil = Int64.min
            fileprivate var trying = 0
            fileprivate var lookups = 0
            /// How many may try at a time. It grows with each one that needed no look-up because it found a connection.
            fileprivate var window = 1
            /// How many look-ups in a row failed or did not give all addresses, so that the next one had to begin.
            fileprivate var misses = 0
            /// How many connections may have become free since the last look-up began; that one found none.
            fileprivate var freed = 0
            /// Held transfers. Some of them may have been released since.
            fileprivate var held = Line<CurlTransfer>()
            fileprivate var isInLine = false

            fileprivate var isInUse: Bool { trying + lookups > 0 }

            fileprivate var isResolved: Bool { answeredUntil != .min }

            fileprivate var mayTry: Bool { freed > 0 || trying + lookups < window }

            /// How many may try after a look-up: one, and more with each one that did not give all addresses.
            fileprivate var narrowestWindow: Int { min(1 << min(misses, 16), LookupDesk.widestWindow) }
        }

        /// How long a name counts as known: a little less than the 60 s that libcurl keeps it.
        private static let memory: Int64 = 50_000_000_000
        /// How long a name counts as resolved before, at least.
        private static let longMemory = HostMemory.sweepInterval / 2
        /// How many such names are kept at most.
        private static let mostResolved = 1 << 16
        static let widestWindow = 32

        private var names: [String: Name] = [:]
        /// The number of names at which unneeded names are removed.
        private var capacity = 1024
        /// When unneeded names were last removed.
        private var lastSweep = Int64.min
        private var places: LookupPlaces
        /// Names that wait for a place and were resolved before.
        private var resolvedLine = Line<Name>()
        /// All others that wait for a place.
        private var line = Line<Name>()
        private(set) var heldCount = 0

        private let answersComeInParts: Bool

        /// - Parameter answersComeInParts: Whether a connection may begin before libcurl remembers the name.
        init(
            _ bounds: LookupBounds = .ofProcess,
            answersComeInParts: Bool = CurlLibrary.connectsBeforeNamesAreKnown
        ) {
            places = LookupPlaces(bounds)
            self.answersComeInParts = answersComeInParts
        }

        /// How many look-ups go on at most.
        var bounds: LookupBounds { places.bounds }

        /// Whether no look-up runs, so that nobody is held for one.
        var isIdle: Bool { places.count == 0 }

        /// Whether the transfer can begin. Otherwise the desk holds it until it lets it go.
        mutating func admits(_ transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let text = transfer.lookupName, !transfer.stand.isTrying else { return true }
            if now - HostMemory.sweepInterval >= lastSweep { forgetUnneeded(at: now) }
            let name = names[text] ?? add(text, at: now)
            guard name.knownUntil <= now else { return true }
            transfer.name = name
            places.age(at: now)
            guard name.mayTry, hasPlace(for: name) else {
                hold(transfer, name)
                return false
            }
            begin(transfer, name, at: now)
            return true
        }

        // MARK: What happens to a transfer

        mutating func lookupBegins(for transfer: CurlTransfer, at now: Int64) {
            guard let name = transfer.name else { return }
            switch transfer.stand {
            case .trying(let since):
                name.trying -= 1
                transfer.stand = .lookingUp(since: since)
            case .waiting:
                // The transfer waited for a connection, and its place was given away.
                places.take(at: now)
                transfer.stand = .lookingUp(since: now)
            case .none, .held, .lookingUp, .abandoned:
                return
            }
            name.lookups += 1
            name.window = name.narrowestWindow
            name.freed = 0
        }

        /// The name of a transfer is known, or the transfer needed none. Returns the transfers that can begin.
        ///
        /// - Parameter connects: Whether the transfer makes a connection, for which it needs the name.
        mutating func lookupEnded(for transfer: CurlTransfer, connects: Bool, at now: Int64) -> [CurlTransfer] {
            guard let name = transfer.name else { return [] }
            let isTrying = transfer.stand.isTrying
            switch transfer.stand {
            case .lookingUp, .abandoned:
                name.misses = name.answeredUntil > now ? name.misses + 1 : 0
                name.answeredUntil = now + Self.memory
                if !answersComeInParts { name.knownUntil = name.answeredUntil }
                name.window = max(name.window, name.narrowestWindow)
            case .trying where connects:
                name.knownUntil = name.answeredUntil
                name.misses = 0
            case .none, .held, .trying, .waiting:
                break
            }
            guard name.knownUntil > now else { return leave(transfer, name, widening: isTrying, at: now) }
            return takeHeld(of: name) + leave(transfer, name, at: now)
        }

        /// libcurl makes a transfer wait for a connection. Returns the transfers that can begin.
        mutating func waits(_ transfer: CurlTransfer, at now: Int64) -> [CurlTransfer] {
            guard let name = transfer.name, transfer.stand.isTrying else { return [] }
            let next = leave(transfer, name, widening: true, at: now)
            transfer.stand = .waiting
            return next
        }

        /// A transfer ended before its name was known. Returns the transfers that can begin.
        ///
        /// - Parameter isFailure: Whether a look-up failed. Otherwise it was given up.
        mutating func ended(_ transfer: CurlTransfer, isFailure: Bool, at now: Int64) -> [CurlTransfer] {
            guard let name = transfer.name else { return [] }
            if isFailure {
                name.misses += 1
                name.window = max(name.window, name.narrowestWindow)
            }
            let next = leave(transfer, name, at: now)
            // The next transfer that asks for the name starts anew.
            if !name.isInUse, name.held.isEmpty {
                name.misses = 0
                name.window = 1
            }
            return next
        }

        /// A transfer ends, and its look-up goes on without it. Returns the transfers that can begin.
        mutating func abandons(_ transfer: CurlTransfer, at now: Int64) -> [CurlTransfer] {
            guard case .lookingUp(let since) = transfer.stand else { return [] }
            places.endYouth(since: since)
            transfer.stand = .abandoned
            return letGo(at: now)
        }

        /// A transfer ended and left its connection to others. That may spare waiting transfers a look-up. Returns
        /// those that can begin.
        mutating func connectionComesFree(after transfer: CurlTransfer, at now: Int64) -> [CurlTransfer] {
            guard let name = transfer.lookupName.flatMap({ names[$0] }), name.lookups > 0,
                name.freed < Self.widestWindow
            else { return [] }
            name.freed += 1
            guard let next = popHeld(of: name) else { return [] }
            begin(next, name, at: now)
            return [next]
        }

        /// Releases a held transfer.
        mutating func remove(_ transfer: CurlTransfer) {
            guard transfer.stand == .held else { return }
            heldCount -= 1
            transfer.stand = .none
            // The transfer stays in its line. Without this, the line and the transfer would keep each other alive.
            transfer.name = nil
        }

        /// All held transfers.
        var held: [CurlTransfer] {
            heldCount == 0 ? [] : names.values.flatMap { $0.held.elements.filter { $0.stand == .held } }
        }

        // MARK: Places

        /// When a transfer can begin only because time has passed.
        var nextAging: Int64 { line.isEmpty ? .max : places.nextAging }

        /// Time has passed. Returns the transfers that can begin.
        mutating func age(at now: Int64) -> [CurlTransfer] {
            guard nextAging <= now else { return [] }
            return letGo(at: now)
        }

        /// Whether there is a place for a name. (A transfer that uses a connection that has become free needs no
        /// look-up.)
        private func hasPlace(for name: Name) -> Bool {
            name.freed > 0 || places.hasRoom(isResolved: name.isResolved)
        }

        private mutating func begin(_ transfer: CurlTransfer, _ name: Name, at now: Int64) {
            if name.freed > 0 { name.freed -= 1 }
            places.take(at: now)
            name.trying += 1
            transfer.stand = .trying(since: now)
        }

        private mutating func hold(_ transfer: CurlTransfer, _ name: Name) {
            transfer.stand = .held
            heldCount += 1
            name.held.append(transfer)
            getInLine(name)
        }

        /// Puts a name in line if it waits only for a place.
        private mutating func getInLine(_ name: Name) {
            guard !name.isInLine, name.mayTry, !name.held.isEmpty else { return }
            name.isInLine = true
            if name.isResolved { resolvedLine.append(name) } else { line.append(name) }
        }

        /// Removes a transfer from its name. Returns the transfers that can begin then; they count as trying.
        private mutating func leave(
            _ transfer: CurlTransfer, _ name: Name, widening: Bool = false, at now: Int64
        ) -> [CurlTransfer] {
            defer { transfer.stand = .none }
            switch transfer.stand {
            case .trying(let since):
                name.trying -= 1
                places.giveBack(since: since)
            case .lookingUp(let since):
                name.lookups -= 1
                places.giveBack(since: since)
            case .abandoned:
                name.lookups -= 1
                places.giveBackOld()
            case .none, .held, .waiting:
                return []
            }
            // During a look-up, only transfers for which a connection became free may begin.
            if widening, name.lookups == 0 { name.window = min(2 * name.window, Self.widestWindow) }
            getInLine(name)
            return letGo(at: now)
        }

        /// Begins the transfers for which there is a place.
        private mutating func letGo(at now: Int64) -> [CurlTransfer] {
            places.age(at: now)
            var next: [CurlTransfer] = []
            // Names whose turn came, but which had no room for all of their transfers.
            var unserved: [Name] = []
            while let first = resolvedLine.first, hasPlace(for: first) {
                resolvedLine.popFirst()
                letGo(of: first, &next, &unserved, at: now)
            }
            while let first = line.first, hasPlace(for: first) {
                line.popFirst()
                letGo(of: first, &next, &unserved, at: now)
            }
            for name in unserved { getInLine(name) }
            return next
        }

        private mutating func letGo(
            of name: Name, _ next: inout [CurlTransfer], _ unserved: inout [Name], at now: Int64
        ) {
            name.isInLine = false
            while name.mayTry, hasPlace(for: name), let transfer = popHeld(of: name) {
                begin(transfer, name, at: now)
                next.append(transfer)
            }
            unserved.append(name)
        }

        private mutating func takeHeld(of name: Name) -> [CurlTransfer] {
            var all: [CurlTransfer] = []
            while let transfer = popHeld(of: name) {
                transfer.stand = .none
                all.append(transfer)
            }
            return all
        }

        private mutating func popHeld(of name: Name) -> CurlTransfer? {
            while let transfer = name.held.popFirst() {
                guard transfer.stand == .held, transfer.name === name else { continue }
                heldCount -= 1
                return transfer
            }
            return nil
        }

        private mutating func add(_ text: String, at now: Int64) -> Name {
            if names.count >= capacity { forgetUnneeded(at: now) }
            let name = Name()
            names[text] = name
            return name
        }

        /// Forgets the names that nobody needs. That happens when there are many, and after
        /// ``HostMemory/sweepInterval``.
        private mutating func forgetUnneeded(at now: Int64) {
            lastSweep = now
            forget { $0.answeredUntil.adding(Self.longMemory) > now }
            if names.count > Self.mostResolved { forget { $0.knownUntil > now } }
            // All of them may be needed, so the next sweep must not happen with the next name.
            capacity = max(1024, 2 * names.count)
        }

        private mutating func forget(unless isWorthKeeping: (Name) -> Bool) {
            names = names.filter { $0.value.isInUse || !$0.value.held.isEmpty || isWorthKeeping($0.value) }
        }

        /// How many names are kept.
        var nameCount: Int { names.count }
    }
#endif
