#if CommandLineTool
    import ArgumentParser
    import FlyingFox
    import FlyingSocks
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue serve`.
    struct QueueServeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Shows a queue on a page for the browser of this machine.",
            discussion: """
                Prints the address of the page, which lists, searches, retries and removes requests. The address has a \
                secret, so treat it as a password. Only this machine can connect. Nothing is sent until you press Deliver \
                on the page. The page shows no credentials, and a body only on request.

                The first call for a queue makes indices in its database, and from then on the queue also counts \
                deliveries and failures by the minute. Ctrl-C ends the page.

                Exit status: 1 the queue failed; 2 it could not be opened, or the port is taken; 143 after SIGTERM, 130 \
                after Ctrl-C.
                """)

        @OptionGroup var queue: QueueArguments

        @Option(
            help: "The port. 0 chooses a free one. (default: 0)",
            transform: { text in
                guard let port = UInt16(text), port == 0 || port >= 1024 else {
                    throw UnusableInput("it is 0, or a number from 1024 to 65535")
                }
                return port
            })
        var port: UInt16 = 0

        func run() async throws {
            try await queue.use { queue in
                // The indices are there before the page is.
                _ = try await queue.overview()
                throw ExitCode(try await serve(queue))
            }
        }

        /// Serves the page until a signal comes. Returns the exit status.
        private func serve(_ queue: OfflineRequestQueue) async throws -> Int32 {
            let server = HTTPServer(
                config: HTTPServer.Configuration(
                    address: try .inet(ip4: "127.0.0.1", port: port), timeout: 60, logger: .disabled))
            let stopped = AsyncStream<Int32?>.makeStream()
            let watch = SignalWatch(
                first: { stopped.continuation.yield($0) }, again: { leave(ExitStatus.signal($0)) })
            defer { watch.end() }
            let listening = Task { try await Self.port(of: server) }
            let serving = Task { () -> (any Error)? in
                defer { stopped.continuation.yield(nil) }
                do { try await server.run() } catch {
                    listening.cancel()
                    return error
                }
                return nil
            }
            var signal: Int32?
            if case .success(let port?) = await listening.result {
                let access = PageGuard(port: port)
                await server.appendRoute("*", to: QueuePage(queue: queue, access: access))
                try StandardOutput.print(access.address)
                signal = await stopped.stream.first { _ in true } ?? nil
            }
            serving.cancel()
            if signal == nil, let error = await serving.value {
                let reason = if case .failed(_, _, let text) = error as? SocketError { text } else { errorText(error) }
                TerminalScreen().print("urlrequest: the page cannot be served on port \(port): \(reason)\n")
            }
            return signal.map(ExitStatus.signal) ?? ExitStatus.unusable
        }

        /// The port that a server listens on, once it does.
        private static func port(of server: HTTPServer) async throws -> UInt16? {
            try await server.waitUntilListening()
            guard case .ip4(_, let port) = await server.listeningAddress else { return nil }
            return port
        }
    }
#endif
