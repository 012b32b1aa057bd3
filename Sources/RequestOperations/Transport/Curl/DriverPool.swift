#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The drivers of a transport: one for its own trust policy, and one for each other policy that tasks bring.
    ///
    /// Over older versions of libcurl, there are also drivers for uploads and streamed responses that need a connection
    /// to themselves. Each driver has its own connections, so a connection that one policy trusted never serves
    /// another. libcurl also tells connections apart by their options, but older versions do not compare all of them
    /// (CVE-2022-27782).
    final class DriverPool: Sendable {
        /// The connections that a request may use.
        private struct Group: Hashable {
            let trust: TrustPolicy
            /// Whether each request has a connection to itself while it runs; see ``HandleSettings/mustBeAlone(_:)``.
            let isAlone: Bool
        }

        private struct Other {
            let driver: CurlDriver
            var users = 0
            var lastUse: UInt64 = 0
        }

        private struct State {
            var others: [Group: Other] = [:]
            /// Drivers that were taken out of `others`, until their threads have ended.
            var leaving: [CurlDriver] = []
            var uses: UInt64 = 0
            var isShutDown = false

            /// The driver of a group, if there is one, with one more user.
            mutating func use(_ group: Group) -> CurlDriver? {
                guard !isShutDown, var other = others[group] else { return nil }
                uses += 1
                other.users += 1
                other.lastUse = uses
                others[group] = other
                return other.driver
            }

            /// Takes out the unused driver with the oldest last use, if there are more than are kept.
            mutating func surplus() -> CurlDriver? {
                guard others.count > keptGroups,
                    let oldest = others.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
                else { return nil }
                others[oldest.key] = nil
                leaving.append(oldest.value.driver)
                return oldest.value.driver
            }
        }

        /// How many groups, in addition to the transport's own, keep their connections while no request uses them.
        static let keptGroups = 16

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

        /// The driver for a task; `nil` if the transport has been shut down. The caller has to give it back.
        func take(for task: TransportTask) -> CurlDriver? {
            guard let group = group(of: task) else { return own }
            // A caller counts as a user of the driver from the moment the driver is found. From then on, nobody ends
            // it.
            let (known, isShutDown) = state.withLock { ($0.use(group), $0.isShutDown) }
            if isShutDown { return nil }
            if let known { return known }
            // The driver is made outside the lock. If others make one at the same time, the first one stays.
            let driver = makeDriver(group)
            return state.withLock { state in
                if state.isShutDown { return nil }
                if let first = state.use(group) { return first }
                state.others[group] = Other(driver: driver)
                return state.use(group)
            }
        }

        /// The group of a task; `nil` for the transport's own driver.
        private func group(of task: TransportTask) -> Group? {
            let isAlone = own.settings.mustBeAlone(task)
            guard let trust = task.trust, trust != configuration.trust else {
                return isAlone ? Group(trust: configuration.trust, isAlone: true) : nil
            }
            return Group(trust: trust, isAlone: isAlone)
        }

        private func makeDriver(_ group: Group) -> CurlDriver {
            var configuration = configuration
            configuration.trust = group.trust
            return CurlDriver(configuration, cookies: jar(for: group.trust), sharesConnections: !group.isAlone)
        }

        /// The cookie jar for a policy. A secure cookie of one policy must not be sent under another. Only the
        /// transport's own policy uses the file.
        private func jar(for trust: TrustPolicy) -> CookieJar? {
            if trust == configuration.trust || cookies == nil { return cookies }
            let known = state.withLock { state in
                state.others.first { $0.key.trust == trust }?.value.driver
            }
            return known?.settings.cookies ?? CookieJar(.inMemory)
        }

        /// A transfer that used a driver has ended.
        func giveBack(_ task: TransportTask) {
            guard let group = group(of: task) else { return }
            let surplus = state.withLock { state in
                state.others[group]?.users -= 1
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
