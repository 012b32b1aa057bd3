package import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A program that runs beside this one. It gets only three descriptors of this process: input, output and errors.
///
/// On Linux, Foundation's `Process` sometimes crashes the process that starts a program. It copies the names of the
/// open descriptors as if each had the longest possible name. If there are many, it reads beyond the end of their list.
package final class ChildProcess: Sendable {
    /// Thrown if the system refuses to start a program.
    package struct StartError: Error, CustomStringConvertible {
        /// The `errno` of the failed call.
        package let code: Int32
        package let program: String

        package var description: String { "\(program) did not start: \(String(cString: strerror(code)))" }
    }

    /// The number of the process. After this one ends, another process may get the number.
    package let identifier: pid_t
    /// The exit status, or the negative number of the signal that ended it; `nil` while it runs.
    private let ending = Locked<Int32?>(nil)
    private let running = DispatchGroup()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program, or a name that is looked up in `PATH`.
    ///   - arguments: The arguments, without the program's own name.
    ///   - environment: Variables added to those of this process. They replace variables of the same name.
    ///   - folder: The folder that the program runs in. By default the folder of this process.
    ///   - input: The standard input. Empty by default. You may close this and the other handles afterwards.
    ///   - output: The standard output. Dropped by default.
    ///   - errors: The standard error. Dropped by default.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil,
        input: FileHandle? = nil, output: FileHandle? = nil, errors: FileHandle? = nil
    ) throws {
        identifier = try Self.spawn(
            program, arguments,
            ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }, folder?.path,
            [input, output, errors].map { $0?.fileDescriptor })
        running.enter()
        guard DetachedThread.start({ self.reap() }) else {
            kill(identifier, SIGKILL)
            throw StartError(code: EAGAIN, program: program)
        }
    }

    /// Whether the program has ended.
    package var hasEnded: Bool { ending.withLock { $0 != nil } }

    /// The result of `waitUntilExit`. It waits until the program has ended, without blocking a thread.
    package var status: Int32 {
        get async {
            await withCheckedContinuation { continuation in
                running.notify(queue: .global()) { continuation.resume() }
            }
            return waitUntilExit()
        }
    }

    /// Blocks this thread until the program has ended.
    ///
    /// Returns its exit status, or the negative number of the signal that ended it.
    package func waitUntilExit() -> Int32 {
        running.wait()
        return ending.withLock { $0 ?? 0 }
    }

    /// Blocks this thread until the program has ended, at most for some seconds. Returns whether it has.
    package func ends(within seconds: Int) -> Bool {
        running.wait(timeout: .now() + .seconds(seconds)) == .success
    }

    /// Sends a signal to the program, if it still runs.
    package func send(_ signal: Int32) {
        ending.withLock { if $0 == nil { kill(identifier, signal) } }
    }

    /// Waits for the end of the program.
    private func reap() {
        var information = siginfo_t()
        // `waitid` keeps the number of the ended process taken. Only `waitpid` frees it, under the lock. So no signal
        // goes to another process with the same number.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        ending.withLock { ending in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            // This does the work of WIFEXITED, WEXITSTATUS and WTERMSIG, which are macros.
            ending = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        }
        running.leave()
    }

    #if canImport(Darwin)
        private static let addFolder = posix_spawn_file_actions_addchdir_np
    #else
        // glibc has these two functions from 2.34 on. But its headers show them only to C programs that define
        // _GNU_SOURCE.
        private static let addFolder = function(
            "posix_spawn_file_actions_addchdir_np",
            as: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32).self)
        private static let addCloseFrom = function(
            "posix_spawn_file_actions_addclosefrom_np",
            as: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)

        private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
            guard let address = dlsym(nil, name) else {
                preconditionFailure("This system's C library has no \(name), without which no test starts a program.")
            }
            // The types above come from the header <spawn.h>.
            return unsafeBitCast(address, to: type)
        }
    #endif

    private static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String], _ folder: String?, _ descriptors: [Int32?]
    ) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }

        for (number, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        if let folder { _ = addFolder(&actions, folder) }
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            _ = addCloseFrom(&actions, 3)
        #endif
        // The program must not inherit the signals that this process ignores or blocks.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var identifier: pid_t = 0
        let code = withCStrings([program] + arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawnp(&identifier, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw StartError(code: code, program: program) }
        return identifier
    }

    /// Calls a function with a list of C strings that ends with a null pointer.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer {
            // The list is not empty: it ends with `nil`.
            body($0.baseAddress!)
        }
    }
}
