import RequestOperations

/// The directory that bodies are saved in. Nothing outside it is ever written.
///
/// It is opened once, and every file is reached through its descriptor by a name without a separator. A file is made under a
/// hidden name that nothing had before. It gets its own name in a way that follows no symbolic link, and replaces nothing
/// unless it is to. So links planted in the directory lead nowhere, and a name that stands holds a whole body.
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
    /// Names are looked up here, so that no write holds up the input.
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

    /// Opens a directory, which is made if it is missing, with those above it.
    ///
    /// - Parameters:
    ///   - ifExists: What becomes of a file that stands where a body is to be saved.
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

    // MARK: Names

    /// What the name of a body leads to.
    enum Destination: Equatable {
        /// The body is saved under this name.
        case free(OutputName)
        /// A file of this name stands there and is kept.
        case kept(String)
    }

    /// Gives the body of the next request of the input its name.
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

    /// Gives a finished file its name, or the next one that is free, and returns that.
    func publish(_ hidden: String, as name: OutputName) throws -> String {
        var name = name
        while try !give(name.text, to: hidden) { name = nextName(of: name.base) }
        state.withLock { _ = $0.unfinished.remove(hidden) }
        return name.text
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

    /// Gives a hidden file a name. Whether that was free, or what had it was replaced.
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
