#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The drivers of a transport: one for its own trust policy, and one for each other policy that tasks bring.
    ///
    /// Each driver has its own connections, so a connection that one policy trusted never serves another. libcurl also tells
    /// connections apart by their options, but older versions do not compare all of them (CVE-2022-27782).
    final class DriverPool: Sendable {
        private struct Other {
            let driver: CurlDriver
            var users = 0
            var lastUse: UInt64 = 0
        }

        private struct State {
            var others: [TrustPolicy: Other] = [:]
            /// Drivers that were taken out of `others`, until their threads have ended.
            var leaving: [CurlDriver] = []
            var uses: UInt64 = 0
            var isShutDown = false

            /// The driver of a policy, if there is one, with one more user.
            mutating func use(_ policy: TrustPolicy) -> CurlDriver? {
                guard !isShutDown, var other = others[policy] else { return nil }
                uses += 1
                other.users += 1
                other.lastUse = uses
                others[policy] = other
                return other.driver
            }

            /// Takes out the unused driver with the oldest last use, if there are more than are kept.
            mutating func surplus() -> CurlDriver? {
                guard others.count > keptPolicies,
                    let oldest = others.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
                else { return nil }
                others[oldest.key] = nil
                leaving.append(oldest.value.driver)
                return oldest.value.driver
            }
        }

        /// How many policies, in addition to the transport's own, keep their connections while no request uses them.
        static let keptPolicies = 16

        private let configuration: CurlTransport.Configuration
        private let cookies: CookieJar?
        private let own: CurlDriver
        private let state = Locked(State())

        init(_ configuration: CurlTransport.Configuration) {
            // This initialises the library before anything of it is used.
            _ = CurlLibrary.version
            self.configuration = configuration
            cookies = CookieJar(configuration.cookies)
            own = CurlDriver(configuration, cookies: cookies)
        }

        /// How many drivers there are in addition to the transport's own.
        var otherCount: Int { state.withLock { $0.others.count } }

        /// The driver for a task; `nil` if the transport has been shut down. The caller must release it.
        func take(for task: TransportTask) -> CurlDriver? {
            guard let policy = policy(of: task) else { return own }
            // A caller counts as a user of the driver from the moment the driver is found. From then on, the driver is
            // not ended.
            if let known = state.withLock({ $0.use(policy) }) { return known }
            // The driver is made outside the lock. If others make one at the same time, the first one stays.
            let driver = makeDriver(policy)
            return state.withLock { state in
                if state.isShutDown { return nil }
                if let first = state.use(policy) { return first }
                state.others[policy] = Other(driver: driver)
                return state.use(policy)
            }
        }

        /// The policy of a task; `nil` for that of the transport.
        private func policy(of task: TransportTask) -> TrustPolicy? {
            task.trust == configuration.trust ? nil : task.trust
        }

        /// A secure cookie of one policy must not be sent under another, so each has a jar of its own. Only the transport's
        /// policy uses the file.
        private func makeDriver(_ policy: TrustPolicy) -> CurlDriver {
            var configuration = configuration
            configuration.trust = policy
            return CurlDriver(configuration, cookies: cookies.flatMap { _ in CookieJar(.inMemory) })
        }

        /// A transfer that used a driver has ended.
        func release(_ task: TransportTask) {
            guard let policy = policy(of: task) else { return }
            let surplus = state.withLock { state in
                state.others[policy]?.users -= 1
                return state.isShutDown ? nil : state.surplus()
            }
            guard let surplus else { return }
            surplus.askToEnd(.failing)
            forgetEnded()
        }

        /// Releases drivers whose threads have ended. Each driver has its own lock, which is not taken under this one.
        private func forgetEnded() {
            let ended = state.withLock { $0.leaving }.filter(\.isOver)
            state.withLock { state in
                state.leaving.removeAll { driver in ended.contains { $0 === driver } }
            }
        }

        // MARK: End

        /// Shuts all drivers down. Returns when their threads have ended.
        func shutDown(_ mode: CurlTransport.ShutdownMode) async {
            let drivers = drivers()
            // All drivers are asked to end before we wait for one.
            for driver in drivers { driver.askToEnd(mode) }
            for driver in drivers { await driver.shutDown(mode) }
            cookies?.save()
        }

        /// Shuts all drivers down without waiting, unless that has happened already. No request may be running.
        func shutDownUnused() {
            // Another owner may use the file of the cookies by now.
            guard !state.withLock({ $0.isShutDown }) else { return }
            for driver in drivers() { driver.askToEnd(.failing) }
            cookies?.save()
        }

        private func drivers() -> [CurlDriver] {
            state.withLock { state in
                state.isShutDown = true
                return [own] + state.others.values.map(\.driver) + state.leaving
            }
        }
    }
#endif
