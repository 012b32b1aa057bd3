import Foundation
import RequestOperations
import RequestOperationsTesting

/// `tuspyserver`, a tus server that is not ours. It can be killed and started again at the same port.
final class TusServerProgram: Sendable {
    /// Where it keeps the uploads.
    let folder: URL
    private let running: Locked<(process: ChildProcess, port: Int)>

    /// Whether Python has the packages: `pip install tuspyserver uvicorn`.
    static let isInstalled: Bool = {
        // Without Python there is no server either.
        let check = try? ChildProcess("python3", ["-c", "import tuspyserver, uvicorn"])
        return check?.waitUntilExit() == 0
    }()

    private static let script = #"""
        import os, socket, sys, threading, uvicorn
        from fastapi import FastAPI
        from tuspyserver import create_tus_router

        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        # It ends with the test, also when that is killed.
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        app = FastAPI()
        app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1]))
        # In one piece, which the test waits for.
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
        """#

    /// Starts the server, over an empty folder.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        running = Locked(try Self.start(over: folder, port: 0))
    }

    deinit {
        let process = running.withLock { $0.process }
        kill(process.identifier, SIGKILL)
        _ = process.waitUntilExit()
        // Something may still be in use. It is in the temporary folder.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Where uploads are created.
    var url: URL {
        // The text is a URL.
        URL(string: "http://127.0.0.1:\(running.withLock { $0.port })/files/")!
    }

    /// Kills the server, and starts it again at once.
    ///
    /// This server writes the offset only after the bytes, and appends whatever the offset is. So after a kill its files may
    /// have bytes that it does not know of, which would spoil the upload. They are cut off.
    func killAndRestart() throws {
        try running.withLock { running in
            kill(running.process.identifier, SIGKILL)
            _ = running.process.waitUntilExit()
            try dropUnknownBytes()
            running = try Self.start(over: folder, port: running.port)
        }
    }

    /// The bytes of all uploads that the server keeps.
    var contents: [Data] {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return try names.filter { !$0.contains(".") }.map {
                try Data(contentsOf: folder.appendingPathComponent($0))
            }
        }
    }

    private struct Info: Decodable {
        let offset: UInt64
    }

    private func dropUnknownBytes() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".info") {
            let place = folder.appendingPathComponent(name)
            let info = try JSONDecoder().decode(Info.self, from: Data(contentsOf: place))
            let handle = try FileHandle(forWritingTo: place.deletingPathExtension())
            try handle.truncate(atOffset: info.offset)
            try handle.close()
        }
    }

    private static func start(over folder: URL, port: Int) throws -> (process: ChildProcess, port: Int) {
        let (input, output) = (Pipe(), Pipe())
        let process = try ChildProcess(
            "python3", ["-c", script, folder.path, "\(port)"], input: input.fileHandleForReading,
            output: output.fileHandleForWriting, errors: .standardError)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            kill(process.identifier, SIGKILL)
            throw Silent()
        }
        // They stay open as long as the process of the test lives.
        pipes.withLock { $0 += [input, output] }
        return (process, port)
    }

    private static let pipes = Locked<[Pipe]>([])

    /// The server did not say where it listens.
    struct Silent: Error {}
}
