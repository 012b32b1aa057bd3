import CLimit
import Foundation

/// The C program, which leaves libcurl its own settings.
final class LimitMover: FileMover {
    private let mover: OpaquePointer

    init() throws {
        guard let mover = climit_open_mover() else { throw BenchmarkError("libcurl gives no handle") }
        self.mover = mover
    }

    deinit {
        climit_close_mover(mover)
    }

    func download(_ page: String, to file: URL) throws -> Double? {
        try check(climit_download(mover, page, file.path))
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        try check(climit_upload(mover, file.path, page))
    }

    private func check(_ failure: UnsafePointer<CChar>?) throws -> Double? {
        if let failure { throw BenchmarkError(String(cString: failure)) }
        return nil
    }
}
