#if os(Linux)
    /// Reports the state of the network from the kernel's messages (rtnetlink). It uses two sockets and no thread of
    /// its own: Dispatch watches one of them.
    ///
    /// One socket receives changes. After each change we ask for everything again on the other socket. The kernel does
    /// not report everything that follows from a change, nor what did not fit into the socket.
    ///
    /// The sockets always belong to the network namespace of the thread that makes them.
    final class RouteMonitor: PathMonitor {
        let initial: NetworkPath.Reading

        private enum Phase {
            /// The table is what the kernel reported last.
            case knows
            /// The kernel gave no complete answer, this many times in a row, and we will ask again later. Until then
            /// the last report stays valid.
            case asksAgain(failures: Int)
            /// The system reports nothing any more.
            case isOver
        }

        private let news: any RouteChannel
        private let answers: any RouteChannel
        private let queue = DispatchQueue(label: "RequestOperations.NetworkPath")
        // Set by `init`, and afterwards used only on the queue.
        private nonisolated(unsafe) var phase: Phase
        private nonisolated(unsafe) var table: LinkTable
        private nonisolated(unsafe) var stopListening: (@Sendable () -> Void)?

        /// Opens the sockets and reads the current state. Returns `nil` if the system does not allow it.
        convenience init?() {
            // The first socket listens before the second asks, so that we miss no change.
            guard let news = RouteSocket(hearsOfChanges: true), let answers = RouteSocket(hearsOfChanges: false) else {
                return nil
            }
            self.init(news: news, answers: answers)
        }

        /// Makes a monitor.
        ///
        /// - Parameters:
        ///   - news: The channel that receives changes.
        ///   - answers: The channel for questions and their answers.
        init?(news: any RouteChannel, answers: any RouteChannel) {
            switch Self.read(answers) {
            case .whole(let table): (self.table, phase, initial) = (table, .knows, table.reading)
            case .incomplete: (table, phase, initial) = (LinkTable(), .asksAgain(failures: 1), .unknown)
            case .refused: return nil
            }
            (self.news, self.answers) = (news, answers)
        }

        func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            queue.async {
                if case .asksAgain(let failures) = self.phase { self.askAgain(after: failures, tell) }
                self.stopListening = self.news.watch(on: self.queue) { [weak self] in self?.receive(tell) }
            }
        }

        func stop() {
            queue.async { self.end() }
        }

        private func end() {
            phase = .isOver
            stopListening?()
            stopListening = nil
        }

        /// Reads the pending messages. If something has changed, it asks again and reports the new state.
        private func receive(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            var isOutdated = false
            receiving: while true {
                switch news.receive(waiting: false) {
                case .messages(let messages):
                    for message in messages where table.apply(message, interface: Self.interface) || message == .overrun
                    {
                        isOutdated = true
                    }
                case .lost: isOutdated = true
                case .nothing: break receiving
                case .failed:
                    if case .isOver = phase { return }
                    end()
                    return tell(.unknown)
                }
            }
            if isOutdated, case .knows = phase { read(tell) }
        }

        private func read(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            if case .whole(let table) = Self.read(answers) {
                self.table = table
                phase = .knows
                return tell(table.reading)
            }
            let failures = if case .asksAgain(let failures) = phase { failures + 1 } else { 1 }
            phase = .asksAgain(failures: failures)
            askAgain(after: failures, tell)
        }

        private func askAgain(after failures: Int, _ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            // The delay grows from a tenth of a second to about ten seconds. We repeat until there is an answer.
            queue.asyncAfter(deadline: .now() + .milliseconds(50 << min(failures, 8))) { [weak self] in
                guard let self, case .asksAgain = phase else { return }
                read(tell)
            }
        }

        private enum Answer {
            case whole(LinkTable)
            /// There was more than fits, the data changed meanwhile, or no answer came.
            case incomplete
            case refused
        }

        /// Asks for all links, addresses and routes.
        private static func read(_ channel: any RouteChannel) -> Answer {
            // We first remove the rest of an answer that was given up.
            draining: while true {
                switch channel.receive(waiting: false) {
                case .messages, .lost: continue
                case .nothing, .failed: break draining
                }
            }
            var table = LinkTable()
            var isWhole = true
            for question in RouteMessage.Question.allCases {
                guard channel.send(question.message(number: UInt32(question.rawValue))) else { return .incomplete }
                var isAnswered = false
                while !isAnswered {
                    guard case .messages(let messages) = channel.receive(waiting: true) else { return .incomplete }
                    for message in messages {
                        switch message {
                        case .refused: return .refused
                        case .interrupted, .overrun: isWhole = false
                        case .end: isAnswered = true
                        default: table.apply(message, interface: interface)
                        }
                    }
                }
            }
            return isWhole ? .whole(table) : .incomplete
        }

        private static func interface(_ link: RouteMessage.Link) -> Reachability.Interface {
            // The driver describes the link in this file. For a link that is being removed, the file does not exist.
            let description = try? String(contentsOfFile: "/sys/class/net/\(link.name)/uevent", encoding: .utf8)
            return Reachability.Interface(hardware: link.hardware, description: description ?? "")
        }
    }
#endif

extension Reachability.Interface {
    /// The kind of a Linux link.
    ///
    /// - Parameters:
    ///   - hardware: Its ARPHRD_… number.
    ///   - description: The content of its `uevent` file.
    init(hardware: UInt16, description: String) {
        let lines = description.split(whereSeparator: \.isNewline)
        self =
            if lines.contains("DEVTYPE=wlan") {
                .wifi
            } else if lines.contains("DEVTYPE=wwan") {
                .cellular
            } else {
                // ARPHRD_ETHER
                hardware == 1 ? .wired : .other
            }
    }
}

/// The links of a Linux machine, their addresses and default routes, as reported by the kernel. A pure value.
///
/// The kernel does not report everything. A link that is switched off or loses its last address loses its IPv4 routes
/// without a message. A link that loses its carrier keeps its routes. The message of a new route does not say that it
/// replaces another. So this table does not guess: when it reports a change, the caller asks for everything again.
struct LinkTable {
    private struct Link: Equatable {
        let isUsable: Bool
        let interface: Reachability.Interface
    }

    private var links: [Int32: Link] = [:]
    private var addresses: Set<RouteMessage.Address> = []
    private var defaultRoutes: Set<RouteMessage.Route> = []

    /// Applies a message to the table.
    ///
    /// - Parameter interface: Returns the kind of interface of a link.
    /// - Returns: Whether something has changed. Then other things may have changed that the kernel does not report.
    @discardableResult
    mutating func apply(
        _ message: RouteMessage, interface: (RouteMessage.Link) -> Reachability.Interface
    ) -> Bool {
        switch message {
        case .link(let link):
            let new = Link(isUsable: link.isUsable, interface: interface(link))
            return links.updateValue(new, forKey: link.index) != new
        case .linkRemoved(let index):
            addresses = addresses.filter { $0.link != index }
            defaultRoutes = defaultRoutes.filter { !$0.links.contains(index) }
            return links.removeValue(forKey: index) != nil
        case .address(let address):
            return addresses.insert(address).inserted
        case .addressRemoved(let address):
            return addresses.remove(address) != nil
        case .defaultRoute(let route):
            return defaultRoutes.insert(route).inserted
        case .defaultRouteRemoved(let route):
            // There may be other routes that differ from this one only in fields that we do not keep.
            defaultRoutes.remove(route)
            return true
        case .end, .refused, .overrun, .interrupted:
            return false
        }
    }

    /// The state of the path: among the usable links, one with a default route comes first, and then the oldest.
    var reading: NetworkPath.Reading {
        let usable = Set(addresses.map(\.link)).filter { links[$0]?.isUsable == true }
        // A default route that names no link may use any link.
        let routed = usable.filter { link in
            defaultRoutes.contains { $0.links.isEmpty || $0.links.contains(link) }
        }
        guard let link = routed.min() ?? usable.min() else {
            return NetworkPath.Reading(level: .none, interface: .other)
        }
        return NetworkPath.Reading(
            level: routed.isEmpty ? .local : .routed, interface: links[link]?.interface ?? .other)
    }
}
