import RequestOperations

/// The directory that bodies are saved in. Nothing outside it is ever written.
///
/// It is opened once, and every file is reached through its descriptor by a name without a separator; a file is made
/// under a hidden name that nothing had before, and gets its own name in a way that replaces nothing and follows no symbolic
/// link. So links planted in the directory lead nowhere, and a name that stands holds a whole body.
final class OutputDirectory: Sendable {
    /// How a whole file gets its name: the first way that the file system knows.
    enum NamingWay: CaseIterable {
        /// It is renamed, if the name is free.
        case rename
        /// It gets a second name, and the first is removed.
        case link
        /// The name is taken by an empty file, which the whole one then replaces.
        case placeholder
    }

    /// Files are written here, each on one of these, one write at a time: a thread of Dispatch may wait for a disk, one of
    /// the cooperative pool may not.
    private let queues = (1...4).map { DispatchQueue(label: "urlrequest.OutputDirectory.\($0)") }
    private let ways: [NamingWay]
    private let descriptor: Int32
    private let state = Locked(State())

    private struct State {
        var lastFile = 0
        var lastQueue = 0
        var unfinished: Set<String> = []
        /// The number that the next file of a name gets, for names that were taken, by the names' hash: a name that comes
        /// a million times must not be tried from the first number each time.
        var nextNumber: [Int: Int] = [:]
    }

    /// Opens a directory, which is made if it is missing, with those above it.
    ///
    /// - Parameter ways: The ways in which a file may get its name, at least one.
    /// - Throws: ``UnusableInput``.
    init(_ path: String, naming ways: [NamingWay] = NamingWay.allCases) throws {
        self.ways = ways
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw UnusableInput("\(path): the directory cannot be made")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
        guard faccessat(descriptor, ".", W_OK | X_OK, 0) == 0 else {
            let number = errno
            close(descriptor)
            throw UnusableInput("\(path): \(errorText(number))")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the writes that were begun, and removes what is left of bodies that did not come to their end.
    func finish() async {
        for queue in queues {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        removeUnfinished()
    }

    /// Removes the files of bodies that have not come to their end.
    func removeUnfinished() {
        for name in state.withLock({ $0.unfinished }) { unlinkat(descriptor, name, 0) }
    }

    // MARK: For files

    /// The queue for the next file; work on files of this directory is done on one of its queues.
    func nextQueue() -> DispatchQueue {
        let number = state.withLock { state in
            state.lastQueue += 1
            return state.lastQueue
        }
        return queues[number % queues.count]
    }

    /// Makes a file under a hidden name of its own.
    func makeFile() throws -> (descriptor: Int32, name: String) {
        while true {
            let number = state.withLock { state in
                state.lastFile += 1
                return state.lastFile
            }
            let name = ".urlrequest-\(getpid())-\(number)-\(UInt32.random(in: 0 ... .max)).part"
            state.withLock { _ = $0.unfinished.insert(name) }
            let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            if file >= 0 { return (file, name) }
            state.withLock { _ = $0.unfinished.remove(name) }
            guard errno == EEXIST else { throw failure("a file cannot be made") }
        }
    }

    /// Gives a finished file its name, or the first variant of it that is free, and returns that.
    func publish(_ hidden: String, as name: FileName) throws -> String {
        let hash = name.hashValue
        var number = state.withLock { $0.nextNumber[hash] } ?? 1
        while try !give(name.variant(number), to: hidden) { number += 1 }
        state.withLock { state in
            if number > 1 || state.nextNumber[hash] != nil {
                state.nextNumber[hash] = max(number + 1, state.nextNumber[hash] ?? 0)
            }
            state.unfinished.remove(hidden)
        }
        return name.variant(number)
    }

    /// Removes a file that has its name, of a request that came to nothing after all.
    func withdraw(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// Removes a file that nothing will be made of.
    func remove(_ hidden: String) {
        unlinkat(descriptor, hidden, 0)
        state.withLock { _ = $0.unfinished.remove(hidden) }
    }

    /// The error of the last system call, or that of a number.
    func failure(_ what: String, _ number: Int32 = errno) -> RequestError {
        RequestError(.fileFailed, stage: .transfer, reason: "\(what): \(errorText(number))")
    }

    /// Gives a hidden file a name. Whether that was free.
    private func give(_ name: String, to hidden: String) throws -> Bool {
        for way in ways {
            let number = give(name, to: hidden, by: way)
            switch number {
            case 0: return true
            case EEXIST: return false
            case EINVAL, EPERM, EOPNOTSUPP, ENOSYS, EMLINK: continue
            default: throw failure("a file cannot be named", number)
            }
        }
        throw failure("a file cannot be named", EOPNOTSUPP)
    }

    /// Returns 0, or the number of the error.
    private func give(_ name: String, to hidden: String, by way: NamingWay) -> Int32 {
        switch way {
        case .rename:
            return renameExclusively(hidden, to: name, in: descriptor)
        case .link:
            guard linkat(descriptor, hidden, descriptor, name, 0) == 0 else { return errno }
            unlinkat(descriptor, hidden, 0)
            return 0
        case .placeholder:
            let placeholder = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            guard placeholder >= 0 else { return errno }
            close(placeholder)
            guard renameat(descriptor, hidden, descriptor, name) == 0 else {
                let number = errno
                unlinkat(descriptor, name, 0)
                return number
            }
            return 0
        }
    }
}
