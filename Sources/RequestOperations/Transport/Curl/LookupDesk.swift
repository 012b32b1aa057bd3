#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Coalesces look-ups: of the transfers to one name, one looks it up, and the others are held until the name is known.
    ///
    /// libcurl starts a thread for each look-up, also for a hundred of the same name at the same time. Of different names no
    /// more than ``LookupDesk/width`` are looked up at a time, those included whose transfers have been given up.
    struct LookupDesk {
        /// Where a transfer stands with its name.
        enum Stand {
            /// The desk has nothing to do with it.
            case none
            /// It is held, since others look the name up or too many other names are looked up.
            case held
            /// It was let go; it is not known yet whether there has to be a look-up.
            case trying
            /// libcurl makes it wait for a connection, so that it looks up nothing for now.
            case waiting
            case lookingUp
        }

        /// A name that some transfer did not know.
        final class Name {
            /// libcurl remembers the name until then.
            fileprivate var knownUntil = Int64.min
            /// Until when it remembers it if the last look-up told it all.
            fileprivate var answeredUntil = Int64.min
            fileprivate var trying = 0
            fileprivate var lookups = 0
            /// How many may try at a time: more with each that needed no look-up, since it found a connection.
            fileprivate var window = 1
            /// How many look-ups in a row have not told it all, so that the next one had to begin: some may never be answered.
            fileprivate var misses = 0
            /// Some of them may have been let go of since.
            fileprivate var held = Line<CurlTransfer>()
            fileprivate var isInLine = false

            fileprivate var hasPlace: Bool { trying + lookups > 0 }

            /// How many may try after a look-up: one, and more with each that has not told it all.
            fileprivate var narrowestWindow: Int { min(1 << min(misses, 16), LookupDesk.widestWindow) }
        }

        /// How long a name counts as known: a little less than the 60 s for which libcurl keeps it.
        private static let memory: Int64 = 50_000_000_000
        static let width = 32
        static let widestWindow = 32

        private var names: [String: Name] = [:]
        /// From how many names on those are forgotten that nobody needs.
        private var capacity = 1024
        /// When those were forgotten last that nobody needs.
        private var lastSweep = Int64.min
        /// How many names have a place in the width.
        private var places = 0
        /// Names that wait for a place.
        private var line = Line<Name>()
        private(set) var heldCount = 0

        private let answersComeInParts: Bool

        /// - Parameter answersComeInParts: Whether a connection may begin before libcurl remembers the name.
        init(answersComeInParts: Bool = CurlLibrary.connectsBeforeNamesAreKnown) {
            self.answersComeInParts = answersComeInParts
        }

        /// Whether the transfer can begin; otherwise it is held until the desk lets it go.
        mutating func admits(_ transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let text = transfer.lookupName, transfer.stand != .trying else { return true }
            if now - HostMemory.sweepInterval >= lastSweep { forgetUnneeded(at: now) }
            let name = names[text] ?? add(text, at: now)
            guard name.knownUntil <= now else { return true }
            transfer.name = name
            guard canTry(name) else {
                hold(transfer, name)
                return false
            }
            begin(transfer, name)
            return true
        }

        // MARK: What happens to a transfer

        mutating func lookupBegins(for transfer: CurlTransfer) {
            guard let name = transfer.name else { return }
            switch transfer.stand {
            case .trying: name.trying -= 1
            // It waited for a connection, and its place was given away.
            case .waiting: if !name.hasPlace { places += 1 }
            case .none, .held, .lookingUp: return
            }
            transfer.stand = .lookingUp
            name.lookups += 1
            name.window = name.narrowestWindow
        }

        /// The name of a transfer is known, or none was needed. Returns those that can begin.
        ///
        /// - Parameter connects: Whether it makes a connection, for which it needs the name.
        mutating func lookupEnded(for transfer: CurlTransfer, connects: Bool, at now: Int64) -> [CurlTransfer] {
            guard let name = transfer.name else { return [] }
            let stand = transfer.stand
            switch stand {
            case .lookingUp:
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
            guard name.knownUntil > now else { return leave(transfer, name, widening: stand == .trying) }
            return takeHeld(of: name) + leave(transfer, name)
        }

        /// libcurl makes a transfer wait for a connection. Returns those that can begin.
        mutating func waits(_ transfer: CurlTransfer) -> [CurlTransfer] {
            guard let name = transfer.name, transfer.stand == .trying else { return [] }
            let next = leave(transfer, name, widening: true)
            transfer.stand = .waiting
            return next
        }

        /// A transfer ended without its name being known.
        ///
        /// - Parameter isUnknown: Whether there is no such name, for the others of that name as well.
        /// - Returns: Those that end as well, and those that can begin.
        mutating func ended(
            _ transfer: CurlTransfer, isUnknown: Bool
        ) -> (failed: [CurlTransfer], next: [CurlTransfer]) {
            guard let name = transfer.name else { return ([], []) }
            let failed = isUnknown ? takeHeld(of: name) : []
            return (failed, leave(transfer, name))
        }

        /// Lets go of a held transfer.
        mutating func remove(_ transfer: CurlTransfer) {
            guard transfer.stand == .held else { return }
            heldCount -= 1
            transfer.stand = .none
            // It stays in its line, which must not keep it and be kept by it.
            transfer.name = nil
        }

        /// All held transfers.
        var held: [CurlTransfer] {
            heldCount == 0 ? [] : names.values.flatMap { $0.held.elements.filter { $0.stand == .held } }
        }

        // MARK: Places

        private func canTry(_ name: Name) -> Bool {
            name.lookups == 0 && name.trying < name.window && (name.hasPlace || places < Self.width)
        }

        private mutating func begin(_ transfer: CurlTransfer, _ name: Name) {
            if !name.hasPlace { places += 1 }
            name.trying += 1
            transfer.stand = .trying
        }

        private mutating func hold(_ transfer: CurlTransfer, _ name: Name) {
            transfer.stand = .held
            heldCount += 1
            name.held.append(transfer)
            getInLine(name)
        }

        private mutating func getInLine(_ name: Name) {
            guard !name.hasPlace, !name.isInLine else { return }
            name.isInLine = true
            line.append(name)
        }

        /// Takes a transfer away from its name. Returns those that can begin then, which count as trying.
        private mutating func leave(
            _ transfer: CurlTransfer, _ name: Name, widening: Bool = false
        ) -> [CurlTransfer] {
            defer { transfer.stand = .none }
            switch transfer.stand {
            case .trying: name.trying -= 1
            case .lookingUp: name.lookups -= 1
            case .none, .held, .waiting: return []
            }
            if widening { name.window = min(2 * name.window, Self.widestWindow) }
            var next: [CurlTransfer] = []
            if name.hasPlace {
                letGo(of: name, &next)
            } else {
                places -= 1
                if !name.held.isEmpty { getInLine(name) }
            }
            while places < Self.width, let first = line.popFirst() {
                first.isInLine = false
                letGo(of: first, &next)
            }
            return next
        }

        private mutating func letGo(of name: Name, _ next: inout [CurlTransfer]) {
            while canTry(name), let transfer = popHeld(of: name) {
                begin(transfer, name)
                next.append(transfer)
            }
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

        /// Forgets the names that nobody needs. That is done when there are many, and after ``HostMemory/sweepInterval``.
        private mutating func forgetUnneeded(at now: Int64) {
            lastSweep = now
            names = names.filter { $0.value.hasPlace || !$0.value.held.isEmpty || $0.value.knownUntil > now }
            // All of them may be needed: the next time is not the next name.
            capacity = max(1024, 2 * names.count)
        }

        /// How many names are kept.
        var nameCount: Int { names.count }
    }
#endif
