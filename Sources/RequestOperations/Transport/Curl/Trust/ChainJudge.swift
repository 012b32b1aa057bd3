#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Judges OpenSSL's verified chains by the pins of a policy, for all connections of a driver.
    ///
    /// `CURLOPT_PINNEDPUBLICKEY` sees the certificate of the server only. `CURLINFO_CERTINFO` is what the server sent, not the
    /// chain that was verified. Any server can send the pinned certificate along (CVE-2016-2402).
    final class ChainJudge: Sendable {
        private let check: PinCheck
        private let mayUseSecureProxy: Bool

        /// Makes a judge.
        ///
        /// - Parameters:
        ///   - pins: The pins of the policy.
        ///   - mayUseSecureProxy: Whether a handshake may be one with an HTTPS proxy. Pins are not for proxies.
        init(_ pins: [HostPins], mayUseSecureProxy: Bool) {
            check = PinCheck(pins)
            self.mayUseSecureProxy = mayUseSecureProxy
            for host in Self.hostsWithoutBackup(pins, at: Date()) { Self.warn(of: host) }
        }

        /// The hosts for which only one pin is enforced. The pins of several policies for one host count together.
        static func hostsWithoutBackup(_ pins: [HostPins], at date: Date) -> [String] {
            let enforced = pins.filter {
                $0.mode == .enforce && $0.host != "**" && $0.expires.map { date < $0 } ?? true
            }
            return Dictionary(grouping: enforced, by: \.host)
                .filter { Set($0.value.flatMap(\.pins)).count == 1 }.keys.sorted()
        }

        private static let warned = Locked<Set<String>>([])

        /// Warns once for each host: if the only pinned key is lost or renewed, every connection fails.
        private static func warn(of host: String) {
            guard warned.withLock({ $0.insert(host).inserted }) else { return }
            let text = "RequestOperations: \(host) has one pin and no backup\n"
            // A failure of this cannot be reported.
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }

        /// A connection that is being made. OpenSSL keeps it as long as the connection.
        // Unchecked: the transfer is touched only on the thread of its driver, where the handshake runs.
        private final class Connection: @unchecked Sendable {
            let judge: ChainJudge
            let origin: Origin
            weak var transfer: CurlTransfer?

            init(_ judge: ChainJudge, _ origin: Origin, for transfer: CurlTransfer) {
                self.judge = judge
                self.origin = origin
                self.transfer = transfer
            }
        }

        /// Sets the function that libcurl calls for each new connection.
        func apply(to handle: EasyHandle) {
            handle.set(CURLOPT_SSL_CTX_DATA, pointer: Unmanaged.passUnretained(handle).toOpaque())
            handle.setContextFunction { _, context, handle in
                // The handle lives longer than libcurl uses it.
                let handle = Unmanaged<EasyHandle>.fromOpaque(handle!).takeUnretainedValue()
                // A handle without a transfer makes no connection.
                guard let transfer = handle.transfer, let judge = transfer.driver.settings.chainJudge,
                    judge.judge(context!, for: transfer)
                else { return CURLE_OUT_OF_MEMORY }
                return CURLE_OK
            }
        }

        /// Judges the chains of a new connection.
        ///
        /// - Parameters:
        ///   - context: The `SSL_CTX` of the connection, or that to an HTTPS proxy on the way.
        ///   - transfer: The transfer for which it is made.
        /// - Returns: `false` without memory.
        func judge(_ context: UnsafeMutableRawPointer, for transfer: CurlTransfer) -> Bool {
            let origin = transfer.origin
            let connection = Unmanaged.passRetained(Connection(self, origin, for: transfer))
            let isSet = rocurl_judge_chains(
                context, HostPattern.canonical(origin.host), mayUseSecureProxy, { ChainJudge.judge($0, $1, $2) },
                connection.toOpaque(), { Unmanaged<Connection>.fromOpaque($0!).release() })
            if !isSet { connection.release() }
            return isSet
        }

        private static func judge(
            _ context: UnsafeMutableRawPointer?, _ chain: UnsafePointer<rocurl_certificate>?, _ count: Int32
        ) -> Bool {
            let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
            let certificates = UnsafeBufferPointer(start: chain, count: Int(count)).map { certificate in
                PinCheck.Certificate(
                    key: ServerPin(.key, withUnsafeBytes(of: certificate.key) { Data($0) }),
                    whole: ServerPin(.certificate, withUnsafeBytes(of: certificate.whole) { Data($0) }))
            }
            let (check, origin) = (connection.judge.check, connection.origin)
            let verdict = check.verdict(on: certificates, of: origin.host, port: origin.port, at: Date())
            for message in verdict.reports { message.handler(message.report) }
            if let failure = verdict.failure { connection.transfer?.connection.refusedChain = failure }
            return verdict.failure == nil
        }
    }
#endif
