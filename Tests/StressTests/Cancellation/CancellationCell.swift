import Testing

/// Where a request is cancelled, what the code there does about it, and what carries the request.
struct CancellationCell: Sendable, CustomTestStringConvertible {
    let wire: Wire
    let point: Point
    let conduct: Conduct

    enum Point: String, CaseIterable, Sendable {
        /// In a queue, behind another operation: it is that one's code whose conduct counts.
        case beforeStart
        /// In the line of a limiter, behind a request whose code has that conduct.
        case slot
        case process
        /// Sent, and no head has come.
        case inFlight
        /// The head has been accepted, the body is not whole.
        case body
        /// In the code that takes the pieces of the body.
        case consumer
        case decode
        case decision
        /// In the backoff, beside the code of an observer.
        case wait

        /// Whether the request has a connection to itself then.
        var hasConnection: Bool { [.inFlight, .body, .consumer].contains(self) }
    }

    enum Conduct: String, CaseIterable, Sendable {
        /// It stops when it is told to.
        case obeys
        /// It answers some time after the operation ended, as if nothing had happened.
        case ignores
        /// It does not answer as long as anybody looks.
        case neverAnswers
    }

    var testDescription: String { "\(wire.rawValue), at \(point.rawValue), code \(conduct.rawValue)" }

    static let all = Wire.allCases.flatMap { wire in
        Point.allCases.flatMap { point in
            Conduct.allCases.map { CancellationCell(wire: wire, point: point, conduct: $0) }
        }
    }
}
