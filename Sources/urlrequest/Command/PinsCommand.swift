#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// `urlrequest pins`: prints the pins of a server's verified chain.
    struct PinsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pins",
            abstract: "Prints the pins of the certificates of a server, for --pin and TrustPolicy.pins.",
            discussion: """
                The server's own pin comes first, that of the root last. Pin one of them, and a backup key that is kept \
                elsewhere. The chain is verified first, so a server that is not trusted has no pins.
                """)

        @Argument(help: ArgumentHelp("The server.", valueName: "https://host"))
        var url: String

        @Option(
            help: ArgumentHelp("Trusts the roots in a file, in PEM or one in DER, and no others.", valueName: "file"))
        var cacert: String?

        func run() async throws {
            guard let url = URL(string: url), url.scheme?.lowercased() == "https", url.host != nil else {
                throw ValidationError("pins needs a URL that begins with https://")
            }
            var options = ConnectionOptions()
            if let cacert {
                do { options.trust.roots = try TrustFile.roots(cacert) } catch let error as UnusableInput {
                    throw ValidationError(error.reason)
                }
            }
            // No pin matches, so the report has all that the server presents.
            let (reports, report) = AsyncStream<PinReport>.makeStream()
            options.trust.pins = [
                .host(
                    "**", keys: [],
                    .reportOnly {
                        report.yield($0)
                        report.finish()
                    })
            ]
            let transport = TransportChoice.platform.transport(
                forConnections: 1, usingProxy: true, keepingCookies: false, options)
            var request = URLRequest(url: url)
            request.httpMethod = HTTPMethod.head.rawValue
            let transfer = Task { [request] in
                let problem = await Self.problem(of: request, over: transport)
                // A report comes from another thread. Without one, the transport looked at no chain.
                DispatchQueue.global().asyncAfter(deadline: .now() + (problem == nil ? 2 : 0)) { report.finish() }
                return problem
            }
            var pins: [ServerPin] = []
            for await report in reports { pins = report.presented }
            // The chain is known. A server that does not answer HEAD does not matter.
            transfer.cancel()
            let problem = await transfer.value
            await TransportChoice.shutDown(transport)
            guard !pins.isEmpty else {
                let reason = problem.map(toolText) ?? "the chain of the server is not known"
                TerminalScreen(STDERR_FILENO).print("urlrequest: \(reason)\n")
                throw ExitCode(ExitStatus.failure)
            }
            for pin in pins { TerminalScreen(STDOUT_FILENO).print("\(pin)\n") }
        }

        /// Why there is no chain; `nil` if there is one. A server may refuse the request, but its chain was verified.
        private static func problem(of request: URLRequest, over transport: any Transport) async -> (any Error)? {
            do {
                _ = try await transport.perform(.data(request)) { _ in }
                return nil
            } catch let failure as TransferFailure {
                return failure.phase == .connect ? failure.error : nil
            } catch {
                return error
            }
        }
    }
#endif
