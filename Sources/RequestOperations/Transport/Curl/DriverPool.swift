#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The drivers of a transport: one for its own trust policy, and one for each other policy that tasks bring along.
    ///
    /// Each has connections of its own, so that none that one policy trusted ever serves another. libcurl tells connections
    /// apart by their options as well, but older versions not by all of them (CVE-2022-27782).
    final class DriverPool: Sendable {
        private struct Other {
            let driver: CurlDriver
            var users = 0
            var lastUse: UInt64 = 0
        }

        private struct State {
            var others: [TrustPolicy: Other] = [:]
            /// What was taken out of them, until its thread has ended.
            var leaving: [CurlDriver] = []
            var uses: UInt64 = 0
            var isShutDown = false

            /// The driver of a policy, if there is one, with one user more.
            mutating func use(_ trust: TrustPolicy) -> CurlDriver? {
                guard !isShutDown, var other = others[trust] else { return nil }
                uses += 1
                other.users += 1
                other.lastUse = uses
                others[trust] = other
                return other.driver
            }

            /// Takes out the driver that nobody has used for the longest time, if there are more than are kept.
            mutating func surplus() -> CurlDriver? {
                guard others.count > keptPolicies,
                    let oldest = others.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
                else { return nil }
                others[oldest.key] = nil
                leaving.append(oldest.value.driver)
                return oldest.value.driver
            }
        }

        /// For how many policies beside that of the transport connections are kept while no request uses them.
        static let keptPolicies = 16

        private let configuration: CurlTransport.Configuration
        private let cookies: CookieJar?
        private let own: CurlDriver
        private let state = Locked(State())

        init(_ configuration: CurlTransport.Configuration) {
            // The library is initialised before anything of it is used.
            _ = CurlLibrary.version
            self.configuration = configuration
            cookies = CookieJar(configuration.cookies)
            own = CurlDriver(configuration, cookies: cookies)
        }

        /// How many policies beside that of the transport have a driver.
        var policyCount: Int { state.withLock { $0.others.count } }

        /// The driver for a policy, or for `nil` that of the transport's own; `nil` if the transport has been shut down. To be
        /// given back.
        func take(_ trust: TrustPolicy?) -> CurlDriver? {
            guard let trust, trust != configuration.trust else { return own }
            // Whoever takes a driver counts as its user from the moment when it is found: nobody ends it from then on.
            let (known, isShutDown) = state.withLock { ($0.use(trust), $0.isShutDown) }
            if isShutDown { return nil }
            if let known { return known }
            // Not made under the lock. If others make one at the same time, the first remains.
            let driver = makeDriver(trust)
            return state.withLock { state in
                if state.isShutDown { return nil }
                if let first = state.use(trust) { return first }
                state.others[trust] = Other(driver: driver)
                return state.use(trust)
            }
        }

        private func makeDriver(_ trust: TrustPolicy) -> CurlDriver {
            var configuration = configuration
            configuration.trust = trust
            // A secure cookie of one policy is none that another may send. The file belongs to the transport's own.
            return CurlDriver(configuration, cookies: configuration.cookies == .none ? nil : CookieJar(.inMemory))
        }

        /// A transfer that took a driver has ended.
        func giveBack(_ trust: TrustPolicy?) {
            guard let trust, trust != configuration.trust else { return }
            let surplus = state.withLock { state in
                state.others[trust]?.users -= 1
                return state.isShutDown ? nil : state.surplus()
            }
            guard let surplus else { return }
            surplus.askToEnd(.failing)
            forgetEnded()
        }

        /// Lets go of drivers whose threads have ended. Each has a lock of its own, which is not taken under this one.
        private func forgetEnded() {
            let ended = state.withLock { $0.leaving }.filter(\.isOver)
            state.withLock { state in
                state.leaving.removeAll { driver in ended.contains { $0 === driver } }
            }
        }

        // MARK: End

        /// Shuts all drivers down; returns when their threads have ended.
        func shutDown(_ mode: CurlTransport.ShutdownMode) async {
            let drivers = drivers()
            // All hear of it before one is waited for.
            for driver in drivers { driver.askToEnd(mode) }
            for driver in drivers { await driver.shutDown(mode) }
            cookies?.save()
        }

        /// Shuts all drivers down without waiting, unless they are; no request is running.
        func shutDownUnused() {
            // The file of the cookies may be somebody else's by now.
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
