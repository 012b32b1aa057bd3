import RequestOperations

/// The file of one body. It is hidden while it grows. Then it gets its name or is removed.
// Unchecked: `state` is used only on `queue`.
final class SavedFile: @unchecked Sendable {
    private enum State {
        case unopened
        case open(descriptor: Int32, name: String)
        case named(String)
        case ended
    }

    private let directory: OutputDirectory
    private let queue: DispatchQueue
    private var state = State.unopened

    /// Makes a file. It is opened when its first bytes arrive.
    init(in directory: OutputDirectory) {
        self.directory = directory
        queue = directory.nextQueue()
    }

    /// Writes the next bytes.
    func append(_ piece: Data) async throws {
        try await perform { [self] in try write(piece, to: opened().descriptor) }
    }

    /// Gives the file its name, or the next free one, and returns it. A body without bytes makes an empty file.
    func save(as name: OutputName) async throws -> String {
        try await perform { [self] in
            let (descriptor, hidden) = try opened()
            state = .ended
            // It keeps the lock until the file has its name. To close the other one tells whether all bytes were written.
            let lock = dup(descriptor)
            defer { if lock >= 0 { close(lock) } }
            guard close(descriptor) == 0 else {
                let failure = directory.failure("a file cannot be closed")
                directory.remove(hidden)
                throw failure
            }
            do {
                let published = try directory.publish(hidden, as: name)
                state = .named(published)
                return published
            } catch {
                directory.remove(hidden)
                throw error
            }
        }
    }

    /// Removes the file, even if it already has its name. The request may have failed while the file got its name.
    func discard() {
        queue.async { [self] in
            switch state {
            case .unopened, .ended: break
            case .open(let descriptor, let hidden):
                close(descriptor)
                directory.remove(hidden)
            case .named(let name):
                directory.withdraw(name)
            }
            state = .ended
        }
    }

    private func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    private func opened() throws -> (descriptor: Int32, name: String) {
        switch state {
        case .unopened:
            let file = try directory.makeFile()
            state = .open(descriptor: file.descriptor, name: file.name)
            return file
        case .open(let descriptor, let name): return (descriptor, name)
        // The code that still writes to a discarded file was left behind.
        case .named, .ended: throw CancellationError()
        }
    }

    private func write(_ piece: Data, to descriptor: Int32) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw directory.failure("a body cannot be written")
            }
            rest = rest.dropFirst(count)
        }
    }
}
