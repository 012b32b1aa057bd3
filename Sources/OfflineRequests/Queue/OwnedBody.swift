import Foundation

/// A body as the store takes it: a small one in memory, a long one in a file of the queue.
struct OwnedBody: Sendable {
    let stored: StoredBody
    /// In bytes.
    let size: Int64

    /// Keeps a body in memory; `nil` if it is too long or in a file.
    init?(inline body: StoredBody, limit: Int) {
        switch body {
        case .none: (stored, size) = (.none, 0)
        case .data(let data) where data.count <= limit: (stored, size) = (body, Int64(data.count))
        case .data, .file: return nil
        }
    }

    /// Copies a file, or writes long data to one. It blocks the thread.
    init(_ body: StoredBody, folder: URL) throws {
        switch body {
        case .none: (stored, size) = (.none, 0)
        case .data(let data): (stored, size) = (.file(try BodyFiles.write(data, into: folder)), Int64(data.count))
        case .file(let file):
            let copy = try BodyFiles.copy(file, into: folder)
            let length = try FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int64
            (stored, size) = (.file(copy), length ?? 0)
        }
    }

    /// Removes the file if no record has taken it.
    func discard() throws {
        if case .file(let file) = stored { try BodyFiles.remove(file) }
    }
}

/// Work that blocks a thread, away from the threads of Swift's Tasks.
enum BlockingWork {
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
