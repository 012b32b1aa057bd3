package import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A program that runs beside this one. Of this process's descriptors it has only the three that it is given.
///
/// On Linux, Foundation's `Process` now and then ends the process that starts another. It copies the names of the open
/// descriptors as if each had the longest name. If there are many, it reads beyond the end of their list.
package final class ChildProcess: Sendable {
    /// The system refused to start a program.
    package struct StartError: Error, CustomStringConvertible {
        /// An `errno`.
        package let code: Int32
        package let program: String

        package var description: String { "\(program) did not start: \(String(cString: strerror(code)))" }
    }

    /// The number of the process; another one may have it after this one's end.
    package let identifier: pid_t
    /// The exit status, or the negative number of the signal that ended it; `nil` while it runs.
    private let ending = Locked<Int32?>(nil)
    private let running = DispatchGroup()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path, or a name that is looked up in `PATH`.
    ///   - arguments: Its arguments, without its own name.
    ///   - environment: Variables besides those of this process, which they replace.
    ///   - folder: Where it runs; where this process does by default.
    ///   - input: Its standard input; empty by default. Like the others, the handle may be closed afterwards.
    ///   - output: Its standard output; dropped by default.
    ///   - errors: Its standard error; dropped by default.
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

    /// Whether it has ended.
    package var hasEnded: Bool { ending.withLock { $0 != nil } }

    /// Waits until it has ended; see `waitUntilExit`.
    package var status: Int32 {
        get async {
            await withCheckedContinuation { continuation in
                running.notify(queue: .global()) { continuation.resume() }
            }
            return waitUntilExit()
        }
    }

    /// Blocks this thread until it has ended, and returns its exit status, or the negative number of the signal that ended
    /// it.
    package func waitUntilExit() -> Int32 {
        running.wait()
        return ending.withLock { $0 ?? 0 }
    }

    /// Sends it a signal, if it runs.
    package func send(_ signal: Int32) {
        ending.withLock { if $0 == nil { kill(identifier, signal) } }
    }

    /// Waits for the end, on a thread of its own.
    private func reap() {
        var information = siginfo_t()
        // Its number is taken back under the lock only, so that no signal meets another process of that number.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        ending.withLock { ending in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            // As WIFEXITED, WEXITSTATUS and WTERMSIG, which are macros.
            ending = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        }
        running.leave()
    }

    #if canImport(Darwin)
        private static let addFolder = posix_spawn_file_actions_addchdir_np
    #else
        // glibc from 2.34 on has these two, but its headers show them to C programs that define _GNU_SOURCE only.
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
            // The types above are those of its header <spawn.h>.
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
        // What this process ignores or blocks must not be ignored or blocked there.
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
