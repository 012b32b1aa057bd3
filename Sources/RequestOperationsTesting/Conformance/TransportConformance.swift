import Foundation

/// The suite of expectations that every transport must meet.
///
/// It tests the contract of `Transport`, sentence by sentence, on real connections to a ``LoopbackServer``.
///
/// ```swift
/// let report = await TransportConformance.run(
///     MyTransport(), lacking: [.fileUploads: "It sends bodies from memory only."])
/// print(report)            // what was missed, and why
/// ```
///
/// A transport need not be able to do everything. But it must declare what it cannot do, and why. There are two faults.
/// An expectation was missed, but nothing was declared. Or a lack was declared, but no expectation was missed: that
/// misleads the reader.
///
/// The suite imports no test library. In Swift Testing, parameterise a test over ``expectations``. Expect that
/// ``TransportOutcome/miss`` of each ``check(_:of:timeLimit:)`` is `nil`.
public enum TransportConformance {
    /// All expectations, in the order of the published matrix.
    public static let expectations: [TransportExpectation] =
        TransportExpectation.heads + TransportExpectation.fields + TransportExpectation.requests
        + TransportExpectation.framings + TransportExpectation.codings + TransportExpectation.sizeLimits
        + TransportExpectation.files + TransportExpectation.streams + TransportExpectation.memory
        + TransportExpectation.uploads + TransportExpectation.uploadSources + TransportExpectation.rejectedHeads
        + TransportExpectation.timeLimits + TransportExpectation.cancellation + TransportExpectation.earlyEnds
        + TransportExpectation.connections
        + TransportExpectation.errors + TransportExpectation.neutrality + TransportExpectation.progressAndTimings

    /// How many expectations are checked at the same time in this process, over all callers. The same number of
    /// expectations that are declared as missed run beside them. Some expectations measure time, and more checks at
    /// once would disturb them.
    static let width = 6
    private static let places = Places(width)
    /// The places for expectations that should be missed. These mostly wait for their time limit.
    private static let placesOfLacks = Places(width)

    /// Checks one expectation, with a new server and an empty folder.
    ///
    /// - Parameters:
    ///   - expectation: The expectation to check.
    ///   - transport: The transport. Other checks that run at the same time may share it.
    ///   - timeLimit: How long the check may take, once it has begun. After that the expectation is missed. 30 seconds
    ///     by default.
    /// - Returns: The outcome of the check.
    public static func check(
        _ expectation: TransportExpectation, of transport: any Transport, timeLimit: Duration = .seconds(30)
    ) async -> TransportOutcome {
        await check(expectation, timeLimit: timeLimit) { _ in transport }
    }

    /// Checks one expectation as above, with a transport that is made for the server of the check.
    package static func check(
        _ expectation: TransportExpectation, isLack: Bool = false, timeLimit: Duration = .seconds(30),
        of makeTransport: @Sendable (LoopbackServer) -> any Transport
    ) async -> TransportOutcome {
        let isAlone = expectation.isCheckedAlone
        let kinds = isAlone ? [places, placesOfLacks] : [isLack ? placesOfLacks : places]
        let count = isAlone ? width : 1
        for places in kinds { await places.take(count) }
        defer { for places in kinds { places.give(count) } }
        return TransportOutcome(
            expectation: expectation, miss: await miss(of: expectation, timeLimit, makeTransport))
    }

    /// Checks expectations, several at the same time.
    ///
    /// - Parameters:
    ///   - transport: The transport, which all checks share.
    ///   - lacking: The capabilities that the transport does not have, each with the reason. None by default.
    ///   - expectations: The expectations to check. All by default.
    /// - Returns: The outcome of each check, in the order of `expectations`.
    public static func run(
        _ transport: any Transport, lacking: [TransportCapability: String] = [:],
        expectations: [TransportExpectation] = expectations
    ) async -> TransportReport {
        await run(expectations, lacking: lacking) { _ in transport }
    }

    /// Checks expectations as above, with a transport that is made for the server of each check.
    package static func run(
        _ expectations: [TransportExpectation], lacking: [TransportCapability: String] = [:],
        timeLimit: Duration = .seconds(30), of makeTransport: @escaping @Sendable (LoopbackServer) -> any Transport
    ) async -> TransportReport {
        await withTaskGroup(of: (Int, TransportOutcome).self) { group in
            for (index, expectation) in expectations.enumerated() {
                let isLack = lacking[expectation.capability] != nil
                group.addTask {
                    (index, await check(expectation, isLack: isLack, timeLimit: timeLimit, of: makeTransport))
                }
            }
            var outcomes: [Int: TransportOutcome] = [:]
            for await (index, outcome) in group { outcomes[index] = outcome }
            return TransportReport(expectations.indices.compactMap { outcomes[$0] }, lacking: lacking)
        }
    }

    /// Why the expectation was missed; `nil` if it was met.
    private static func miss(
        of expectation: TransportExpectation, _ timeLimit: Duration,
        _ makeTransport: (LoopbackServer) -> any Transport
    ) async -> String? {
        do {
            let trial = try await TransportTrial(timeLimit: timeLimit, makeTransport)
            defer { trial.end() }
            try await within(timeLimit) { try await expectation.check(trial) }
            return nil
        } catch let failure as ConformanceFailure {
            return failure.description
        } catch let failure as TransferFailure {
            // Handlers and consumers also throw sentences.
            if let sentence = failure.error as? ConformanceFailure { return sentence.description }
            return "The transfer failed in phase \(failure.phase.rawValue): \(failure.error)"
        } catch {
            return "An unexpected error was thrown: \(error)"
        }
    }
}
