extension LoopbackServer {
    /// Holds responses back until a test has seen enough: `.held(by: gate, then: .text("late"))`.
    ///
    /// With a gate, a test shows how many requests are in flight, or what happens while one is in flight. It needs no
    /// delay.
    public final class Gate: Sendable {
        /// Becomes readable when the gate opens. So it also wakes the threads that wait for their clients.
        let alarm: Socket
        private let opener: Socket

        /// Makes a closed gate. It uses two file descriptors while it exists. It traps if the process has none left.
        public init() {
            do {
                (alarm, opener) = try Socket.pair()
            } catch {
                preconditionFailure("A gate needs two file descriptors: \(error)")
            }
        }

        /// Releases every response that the gate holds or will hold. You cannot close a gate again.
        public func open() {
            opener.shutDown()
        }
    }
}
