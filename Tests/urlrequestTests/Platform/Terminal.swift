import RequestOperations
import Testing

/// A pseudo-terminal: what is written to its slave can be read as a terminal would get it.
final class Terminal: Sendable {
    /// The end for a program.
    let slave: FileHandle
    private let output: CapturedOutput

    init() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(master >= 0, "There is no terminal left.")
        slave = try FileHandle(forUpdating: URL(fileURLWithPath: #require(Self.slaveName(of: master))))
        output = CapturedOutput(of: FileHandle(fileDescriptor: master, closeOnDealloc: true))
    }

    /// Waits until some text has come, and returns all that has.
    func text(upTo wanted: String) async -> String {
        await output.text(satisfying: { $0.text.contains(wanted) })
    }

    /// Unlocks the slave and gives its name.
    private static func slaveName(of master: Int32) -> String? {
        #if os(Linux)
            // What unlockpt(3) and ptsname(3) do, which the module of the C library does not show.
            let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
            var isLocked: Int32 = 0
            var number: UInt32 = 0
            guard ioctl(master, unlock, &isLocked) == 0, ioctl(master, getNumber, &number) == 0 else { return nil }
            return "/dev/pts/\(number)"
        #else
            guard grantpt(master) == 0, unlockpt(master) == 0 else { return nil }
            return ptsname(master).map { String(cString: $0) }
        #endif
    }
}
