import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct CircuitStateTests {
    private static let second: Int64 = 1_000_000_000

    /// Half of at least four in ten seconds, open for five.
    private static func circuit(
        ratio: Double = 0.5, throughput: Int = 4, probes: Int = 1
    ) -> CircuitState {
        CircuitState(CircuitBreaker(failureRatio: ratio, minimumThroughput: throughput, probes: probes))
    }

    private static func count(
        _ circuit: inout CircuitState, _ outcomes: [CircuitState.Outcome], at now: Int64 = 0
    ) {
        for outcome in outcomes {
            guard case .admitted(let era, _) = circuit.admit(at: now) else { return }
            circuit.record(outcome, of: era, at: now)
        }
    }

    private static func opened(probes: Int = 1) -> CircuitState {
        var circuit = circuit(probes: probes)
        count(&circuit, [.failed, .failed, .failed, .failed])
        return circuit
    }

    // MARK: Closed

    @Test(
        arguments: [
            ([.failed, .failed, .failed], .closed), ([.failed, .failed, .failed, .failed], .open),
            ([.succeeded, .succeeded, .failed, .failed], .open),
            ([.succeeded, .succeeded, .succeeded, .failed], .closed),
            ([.failed, .failed, .failed, .cancelled], .closed),
            ([.failed, .failed, .failed, .cancelled, .succeeded], .open),
        ] as [([CircuitState.Outcome], CircuitBreaker.State)])
    func `It opens at the ratio once enough attempts have ended`(
        outcomes: [CircuitState.Outcome], state: CircuitBreaker.State
    ) {
        var circuit = Self.circuit()
        Self.count(&circuit, outcomes)
        #expect(circuit.state == state)
    }

    @Test(arguments: [(9, .open), (10, .closed)] as [(Int64, CircuitBreaker.State)])
    func `Only the sampling window counts`(seconds: Int64, state: CircuitBreaker.State) {
        var circuit = Self.circuit()
        Self.count(&circuit, [.failed, .failed, .failed])
        Self.count(&circuit, [.failed], at: seconds * Self.second)
        #expect(circuit.state == state)
    }

    @Test func `A ratio of one wants failures only`() {
        var circuit = Self.circuit(ratio: 1)
        Self.count(&circuit, [.failed, .failed, .failed, .failed, .failed].shuffled() + [.succeeded])
        // It opened at the fourth, before there was a success.
        #expect(circuit.state == .open)
        var other = Self.circuit(ratio: 1)
        Self.count(&other, [.succeeded] + [CircuitState.Outcome](repeating: .failed, count: 100))
        #expect(other.state == .closed)
    }

    @Test func `It admits any number at a time`() {
        var circuit = Self.circuit()
        for _ in 0..<1000 { #expect(circuit.admit(at: 0) == .admitted(era: 0)) }
    }

    // MARK: Open

    @Test func `While it is open it admits nobody and says for how long`() {
        var circuit = Self.opened()
        #expect(circuit.admit(at: 0) == .refused(for: 5 * Self.second))
        #expect(circuit.admit(at: 5 * Self.second - 1) == .refused(for: 1))
        #expect(circuit.timeLeft(at: 2 * Self.second) == 3 * Self.second)
    }

    @Test func `What ends while it is open is not counted`() {
        var circuit = Self.circuit()
        guard case .admitted(let era, _) = circuit.admit(at: 0) else { return }
        Self.count(&circuit, [.failed, .failed, .failed, .failed])
        circuit.record(.succeeded, of: era, at: 0)
        circuit.record(.failed, of: era, at: Self.second)
        #expect(circuit.state == .open && circuit.timeLeft(at: 0) == 5 * Self.second)
    }

    @Test func `After its time it is half open for the next attempt`() {
        var circuit = Self.opened()
        #expect(circuit.state == .open && circuit.timeLeft(at: 5 * Self.second) == 0)
        #expect(circuit.admit(at: 5 * Self.second) == .admitted(era: 2, isProbe: true))
        #expect(circuit.state == .halfOpen)
    }

    // MARK: Half open

    @Test(arguments: [1, 2, 5])
    func `Only the probes are admitted`(probes: Int) {
        var circuit = Self.opened(probes: probes)
        for _ in 0..<probes { #expect(circuit.admit(at: 5 * Self.second) == .admitted(era: 2, isProbe: true)) }
        #expect(circuit.admit(at: 5 * Self.second) == .refused(for: 0))
        #expect(circuit.timeLeft(at: 5 * Self.second) == 0)
    }

    @Test(arguments: [1, 2, 5])
    func `It closes when all probes succeeded`(probes: Int) {
        var circuit = Self.opened(probes: probes)
        for number in 1...probes {
            Self.count(&circuit, [.succeeded], at: 5 * Self.second)
            #expect(circuit.state == (number == probes ? .closed : .halfOpen))
        }
    }

    @Test func `One probe that fails opens it again for the whole time`() {
        var circuit = Self.opened(probes: 3)
        Self.count(&circuit, [.succeeded, .failed], at: 6 * Self.second)
        #expect(circuit.state == .open)
        #expect(circuit.admit(at: 6 * Self.second) == .refused(for: 5 * Self.second))
    }

    @Test func `A probe that is cancelled makes room for another`() {
        var circuit = Self.opened()
        Self.count(&circuit, [.cancelled], at: 5 * Self.second)
        #expect(circuit.state == .halfOpen && circuit.admit(at: 5 * Self.second) == .admitted(era: 2, isProbe: true))
    }

    @Test func `An attempt from before it opened decides nothing`() {
        var circuit = Self.circuit()
        guard case .admitted(let era, _) = circuit.admit(at: 0) else { return }
        Self.count(&circuit, [.failed, .failed, .failed, .failed])
        #expect(circuit.admit(at: 5 * Self.second) == .admitted(era: 2, isProbe: true))
        circuit.record(.succeeded, of: era, at: 5 * Self.second)
        circuit.record(.failed, of: era, at: 5 * Self.second)
        #expect(circuit.state == .halfOpen)
    }

    @Test func `After it closed it counts afresh`() {
        var circuit = Self.opened()
        Self.count(&circuit, [.succeeded], at: 5 * Self.second)
        Self.count(&circuit, [.failed, .failed, .failed], at: 5 * Self.second)
        #expect(circuit.state == .closed)
        Self.count(&circuit, [.failed], at: 5 * Self.second)
        #expect(circuit.state == .open)
    }

    // MARK: What is kept

    @Test func `A closed circuit is idle when its window is over`() {
        var circuit = Self.circuit()
        Self.count(&circuit, [.failed], at: 3 * Self.second)
        #expect(!circuit.isIdle(at: 12 * Self.second) && circuit.isIdle(at: 13 * Self.second))
    }

    @Test func `An open circuit is idle when nobody has asked for half a day after its time`() {
        let end = 5 * Self.second
        #expect(!Self.opened().isIdle(at: end + HostMemory.longestRest - 1))
        #expect(Self.opened().isIdle(at: end + HostMemory.longestRest))
    }

    @Test func `A half open circuit is idle half a day after its last probe`() {
        var circuit = Self.opened(probes: 2)
        for second: Int64 in [5, 100] {
            guard case .admitted(let era, _) = circuit.admit(at: second * Self.second) else { return }
            circuit.record(.cancelled, of: era, at: second * Self.second)
        }
        #expect(!circuit.isIdle(at: 100 * Self.second + HostMemory.longestRest - 1))
        #expect(circuit.isIdle(at: 100 * Self.second + HostMemory.longestRest))
    }

    @Test func `An idle circuit is closed for the next who asks`() {
        var circuit = Self.opened()
        let late = 5 * Self.second + HostMemory.longestRest
        #expect(circuit.state(at: late - 1) == .open && circuit.state(at: late) == .closed)
        #expect(circuit.admit(at: late) == .admitted(era: 2) && circuit.state == .closed)
    }

    @Test func `A circuit that is open for ever is never idle`() {
        var circuit = CircuitState(CircuitBreaker(minimumThroughput: 1, openTime: .seconds(Int64.max)))
        Self.count(&circuit, [.failed], at: Self.second)
        #expect(!circuit.isIdle(at: .max - 1) && circuit.state(at: .max - 1) == .open)
    }
}
