import RequestOperations

/// The directory that bodies are saved in. Nothing outside it is ever written.
///
/// It is opened once, and every file is reached through its descriptor by a name without a separator; a file is made
/// under a hidden name that nothing had before, and gets its own name by a hard link, which replaces nothing and follows
/// no symbolic link. So links planted in the directory lead nowhere, and a name that stands holds a whole body.
final class OutputDirectory: Sendable {
    /// Files are written here, one write at a time: a thread of Dispatch may wait for a disk, one of the cooperative pool
    /// may not.
    private let queue = DispatchQueue(label: "urlrequest.OutputDirectory")
    private let descriptor: Int32
    private let state = Locked(State())

    private struct State {
        var lastFile = 0
        var unfinished: Set<String> = []
        /// The number that the next file of a name gets, for names that were taken, by the names' hash: a name that comes
        /// a million times must not be tried from the first number each time.
        var nextNumber: [Int: Int] = [:]
    }

    /// Opens a directory, which is made if it is missing, with those above it.
    ///
    /// - Throws: ``UnusableInput``.
    init(_ path: String) throws {
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
    func finish() {
        queue.sync {}
        removeUnfinished()
    }

    /// Removes the files of bodies that have not come to their end.
    func removeUnfinished() {
        for name in state.withLock({ $0.unfinished }) { unlinkat(descriptor, name, 0) }
    }

    // MARK: For files

    /// Runs work on the thread for files.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Runs work on the thread for files some time later.
    func performLater(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Makes a file under a hidden name of its own. On the thread for files.
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

    /// Gives a finished file its name, or the first variant of it that is free. On the thread for files.
    func publish(_ hidden: String, as name: FileName) throws {
        let hash = name.hashValue
        var number = state.withLock { $0.nextNumber[hash] } ?? 1
        while try !link(hidden, as: name.variant(number)) { number += 1 }
        if number > 1 || state.withLock({ $0.nextNumber[hash] }) != nil {
            state.withLock { $0.nextNumber[hash] = number + 1 }
        }
        remove(hidden)
    }

    /// Removes a file that nothing will be made of. On the thread for files.
    func remove(_ hidden: String) {
        unlinkat(descriptor, hidden, 0)
        state.withLock { _ = $0.unfinished.remove(hidden) }
    }

    /// The error of the last system call.
    func failure(_ what: String) -> RequestError {
        RequestError(.fileFailed, stage: .transfer, reason: "\(what): \(errorText(errno))")
    }

    /// Whether the name was free.
    private func link(_ hidden: String, as name: String) throws -> Bool {
        if linkat(descriptor, hidden, descriptor, name, 0) == 0 { return true }
        switch errno {
        case EEXIST:
            return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // A file system without hard links: the name is taken by an empty file, which the whole one then replaces.
            let placeholder = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            guard placeholder >= 0 else {
                if errno == EEXIST { return false }
                throw failure("a file cannot be made")
            }
            close(placeholder)
            guard renameat(descriptor, hidden, descriptor, name) == 0 else { throw failure("a file cannot be named") }
            return true
        default:
            throw failure("a file cannot be named")
        }
    }
}
