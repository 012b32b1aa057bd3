import RequestOperationsTesting

extension TransportUnderTest {
    /// The scripted transport, its script what the server would answer.
    static let scripted = TransportUnderTest(
        name: "ScriptedTransport", lacking: [:], make: { ScriptedTransport.answering(for: $0) })
}
