extension LoopbackServer {
    /// Holds responses back until a test has seen enough: `.held(by: gate, then: .text("late"))`.
    ///
    /// With it a test shows how many requests are in flight, or what happens while one is, without any delay.
    public final class Gate: Sendable {
        /// Becomes readable when the gate is open, and so wakes the threads that wait for their clients as well.
        let alarm: Socket
        private let opener: Socket

        /// A closed gate. It takes two file descriptors for as long as it lives; if the process has none left, it traps.
        public init() {
            do {
                (alarm, opener) = try Socket.pair()
            } catch {
                preconditionFailure("A gate needs two file descriptors: \(error)")
            }
        }

        /// Lets go every response that it holds or will hold. There is no way to close it again.
        public func open() {
            opener.shutDown()
        }
    }
}
