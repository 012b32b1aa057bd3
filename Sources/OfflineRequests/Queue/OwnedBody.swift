import Foundation

/// A body as the store takes it: a small one in memory, a long one in a file of the queue.
struct OwnedBody: Sendable {
    let stored: StoredBody
    /// In bytes.
    let size: Int64

    /// Copies a file, and writes long data to one. It blocks the thread.
    init(_ body: StoredBody, inlineLimit: Int, folder: URL) throws {
        switch body {
        case .none: (stored, size) = (.none, 0)
        case .data(let data) where data.count <= inlineLimit: (stored, size) = (body, Int64(data.count))
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
