#if os(Linux)
    import OfflineRequests
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
        /// Whether this process may mount a small file system that nobody else sees: user_namespaces(7).
        private static func mayMount() async throws -> Bool {
            let child = try ChildProcess("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
            return await child.status == 0
        }

        @Test(.enabled("This process may not mount a file system.") { try await mayMount() })
        func `A full disk refuses an add and the queue works again when there is room`() async throws {
            let fixture = try Fixture()
            let mount = "mount -t tmpfs -o size=2m none \"$0\" && exec \"$@\""
            let process = try OfflineProcess(
                fixture.directory, ["fill", "http://127.0.0.1:1"],
                prefix: ["unshare", "-rm", "sh", "-c", mount, fixture.directory.path])
            #expect(await process.status == 0)
            #expect(await process.lines.prefix(2) == ["refused true true", "again true"])
        }
    }
#endif
