/// What came of checking one expectation.
public struct TransportOutcome: Sendable, CustomStringConvertible {
    /// What was checked.
    public let expectation: TransportExpectation

    /// Why the transport does not meet the expectation, a sentence; `nil` if it does.
    public let miss: String?

    /// Why the transport is said to lack the capability; `nil` if it is not.
    public let reasonForLack: String?

    /// What is wrong, a sentence, where the transport and its declaration disagree: an expectation was missed that was not
    /// declared as lacking, or one was met that was. `nil` if all is well.
    public var fault: String? {
        switch (miss, reasonForLack) {
        case (let miss?, nil):
            "“\(expectation.name)” (\(expectation.capability)) was missed: \(miss)"
        case (nil, let reason?):
            "“\(expectation.name)” is met, but “\(expectation.capability)” is declared as lacking: \(reason)"
        case (nil, nil), (.some, .some):
            nil
        }
    }

    /// The expectation and what came of it, one line.
    public var description: String {
        if let fault { return "fault: \(fault)" }
        if let reasonForLack { return "lacking: \(expectation.name) (\(reasonForLack))" }
        return "met: \(expectation.name)"
    }
}

/// What came of checking several expectations of one transport.
public struct TransportReport: Sendable, CustomStringConvertible {
    /// What came of each.
    public let outcomes: [TransportOutcome]

    /// What is wrong, sentence by sentence; empty if the transport conforms.
    public var faults: [String] { outcomes.compactMap(\.fault) }

    /// One line for each fault, and a last one that counts.
    public var description: String {
        let lacking = outcomes.count { $0.reasonForLack != nil && $0.fault == nil }
        let met = outcomes.count { $0.miss == nil && $0.reasonForLack == nil }
        return (faults + ["\(met) met, \(lacking) lacking, \(faults.count) faults"]).joined(separator: "\n")
    }
}
