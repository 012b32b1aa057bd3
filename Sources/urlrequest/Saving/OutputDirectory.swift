import RequestOperations

/// The directory in which bodies are saved. Nothing outside it is ever written.
///
/// It is opened once. Every file is reached through its descriptor, by a name without a separator. A file is created
/// under a new hidden name. Then it gets its own name in a way that follows no symbolic link. That replaces an old file
/// only if the options say so. So links that someone plants in the directory have no effect, and a file under its own
/// name holds a complete body.
final class OutputDirectory: Sendable {
    /// How a complete file gets its name. The first way that the file system supports is used.
    enum NamingWay: CaseIterable {
        /// It is renamed, if the name is free.
        case rename
        /// It gets a second name, and the first is removed.
        case link
        /// An empty file takes the name. Then the complete file replaces it.
        case placeholder
    }

    /// Files are written on these queues. A file stays on one queue, which does one write at a time.
    ///
    /// A Dispatch thread may wait for a disk. A thread of the cooperative pool may not.
    private let queues = (1...4).map { DispatchQueue(label: "urlrequest.OutputDirectory.\($0)") }
    /// Names are looked up on this queue, so that no write delays the input.
    private let nameQueue = DispatchQueue(label: "urlrequest.OutputDirectory.names")
    private let ways: [NamingWay]
    private let ifExists: ExistingFile
    private let descriptor: Int32
    private let state = Locked(State())

    private struct State {
        var lastFile = 0
        var lastQueue = 0
        var unfinished: Set<String> = []
        var names = OutputNames()
    }

    /// Opens a directory. It creates the directory and its parents if they are missing.
    ///
    /// - Parameters:
    ///   - ifExists: What to do if a file already exists where a body should be saved.
    ///   - ways: The ways in which a file may get its name, at least one.
    /// - Throws: ``UnusableInput``.
    init(
        _ path: String, ifExists: ExistingFile = .number, naming ways: [NamingWay] = NamingWay.allCases
    ) throws {
        self.ifExists = ifExists
        self.ways = ways
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw UnusableInput("\(path): the directory cannot be made: \(errorText(error))")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
        guard faccessat(descriptor, ".", W_OK | X_OK, 0) == 0 else {
            let number = errno
            close(descriptor)
            throw UnusableInput("\(path): \(errorText(number))")
        }
        removeAbandoned((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the writes that have begun. Then it removes the files of bodies that are not complete.
    func finish() async {
        for queue in queues {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        removeUnfinished()
    }

    /// Removes the files of bodies that are not complete.
    func removeUnfinished() {
        for name in state.withLock({ $0.unfinished }) { unlinkat(descriptor, name, 0) }
    }

    /// Removes the hidden files that runs have left which were killed. Each run has a lock on its own (`flock`).
    private func removeAbandoned(_ names: [String]) {
        for name in names where name.hasPrefix(Self.hiddenPrefix) && name.hasSuffix(Self.hiddenSuffix) {
            let file = openat(descriptor, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlinkat(descriptor, name, 0) }
            close(file)
        }
    }

    private static let hiddenPrefix = ".urlrequest-"
    private static let hiddenSuffix = ".part"

    // MARK: Names

    /// The result of choosing a name for a body.
    enum Destination: Equatable {
        /// The body is saved under this name.
        case free(OutputName)
        /// A file of this name already exists and is kept.
        case kept(String)
    }

    /// Chooses the name for the body of the next request of the input.
    func name(of base: FileName) async -> Destination {
        await withCheckedContinuation { continuation in
            nameQueue.async { [self] in
                let name = nextName(of: base)
                let isKept = ifExists == .skip && exists(name)
                continuation.resume(returning: isKept ? .kept(name.text) : .free(name))
            }
        }
    }

    private func nextName(of base: FileName) -> OutputName {
        while true {
            let name = state.withLock { $0.names.give(base) }
            guard ifExists == .number, exists(name) else { return name }
        }
    }

    private func exists(_ name: OutputName) -> Bool {
        var status = stat()
        return fstatat(descriptor, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    // MARK: For files

    /// Returns the queue for the next file. All work on the files of this directory runs on these queues.
    func nextQueue() -> DispatchQueue {
        let number = state.withLock { state in
            state.lastQueue += 1
            return state.lastQueue
        }
        return queues[number % queues.count]
    }

    /// Creates a file under a new hidden name.
    func makeFile() throws -> (descriptor: Int32, name: String) {
        while true {
            let number = state.withLock { state in
                state.lastFile += 1
                return state.lastFile
            }
            let name =
                "\(Self.hiddenPrefix)\(getpid())-\(number)-\(UInt32.random(in: 0 ... .max))\(Self.hiddenSuffix)"
            state.withLock { _ = $0.unfinished.insert(name) }
            let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            if file >= 0, lock(file) { return (file, name) }
            let reason = errno
            state.withLock { _ = $0.unfinished.remove(name) }
            guard file < 0 else {
                close(file)
                continue
            }
            guard reason == EEXIST else { throw failure("a file cannot be made", reason) }
        }
    }

    /// Locks a new file. Returns `false` if another run has taken it for one that was left behind.
    private func lock(_ file: Int32) -> Bool {
        // Some file systems have no locks. There, no other run can lock the file either.
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
        var status = stat()
        return fstat(file, &status) != 0 || status.st_nlink > 0
    }

    /// Gives a finished file its name, or the next free one. Returns the name that it got.
    func publish(_ hidden: String, as name: OutputName) throws -> String {
        var name = name
        while try !give(name.text, to: hidden) { name = nextName(of: name.base) }
        state.withLock { _ = $0.unfinished.remove(hidden) }
        return name.text
    }

    /// Removes a file that already has its name, because its request failed after all.
    func withdraw(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// Removes a hidden file that is not needed.
    func remove(_ hidden: String) {
        unlinkat(descriptor, hidden, 0)
        state.withLock { _ = $0.unfinished.remove(hidden) }
    }

    /// An error with the text of the last system call's error, or of the given error number.
    func failure(_ what: String, _ number: Int32 = errno) -> RequestError {
        RequestError(.fileFailed, stage: .transfer, reason: "\(what): \(errorText(number))")
    }

    /// Gives a hidden file a name. Returns `false` if the name is taken and may not be replaced.
    private func give(_ name: String, to hidden: String) throws -> Bool {
        if ifExists == .overwrite {
            guard renameat(descriptor, hidden, descriptor, name) == 0 else { throw failure("a file cannot be named") }
            return true
        }
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

    /// Gives a hidden file a name in one way. Returns 0, or the error number.
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

/// What to do if a file already exists where a body should be saved.
enum ExistingFile: String, CaseIterable, Sendable {
    /// The file is kept, and the request is not sent.
    case skip
    /// The body replaces it.
    case overwrite
    /// The file is kept, and the body gets the next free number.
    case number
}
