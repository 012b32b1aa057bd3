/// Where the elements of a stream are between its sender and its reader. A pure state machine.
///
/// ```
///              offer                    ask
/// offered ◀──────────── idle ────────────────▶ asked
///    └──── ask, withdraw ──▶ ▲ ◀──── offer ──────┘
/// ```
///
/// From every phase `end` leads to `ended`, and from there `ask` leads to `over`.
struct HandoverState<Element: Sendable> {
    private enum Phase {
        case idle
        /// The sender waits until the reader takes the element.
        case offered(Element, Answer<Void>)
        /// The reader waits for an element.
        case asked(Answer<Element?>)
        /// There are no more elements. The reader does not know that yet.
        case ended(Result<Void, any Error>)
        /// The reader knows the end.
        case over
    }

    private var phase = Phase.idle
    /// The number of the attempt that may send. An attempt that was left behind may still run.
    private var sender = 0
    private var hasReader = false
    /// Whether the reader has taken an element.
    private(set) var hasHandedOver = false

    /// The first reader comes. Returns `false` for any other.
    mutating func claim() -> Bool {
        defer { hasReader = true }
        return !hasReader
    }

    /// A new attempt begins. The attempts before may not send any more.
    ///
    /// - Returns: The number of the attempt, and the answer to a sender that waits.
    mutating func begin() -> (number: Int, former: Answer<Void>?) {
        sender += 1
        return (sender, withdraw())
    }

    enum Offer {
        /// The sender waits for its answer.
        case wait
        /// A reader waits for the element.
        case give(Answer<Element?>)
        /// Nobody wants the element.
        case refuse
    }

    /// An attempt has an element.
    mutating func offer(_ element: Element, from number: Int, _ answer: Answer<Void>) -> Offer {
        guard number == sender else { return .refuse }
        switch phase {
        case .idle:
            phase = .offered(element, answer)
            return .wait
        case .asked(let reader):
            phase = .idle
            hasHandedOver = true
            return .give(reader)
        case .offered:
            preconditionFailure("An attempt offers one element at a time.")
        case .ended, .over:
            return .refuse
        }
    }

    /// An attempt was cancelled. Returns the answer to it, if it waits.
    mutating func cancel(_ number: Int) -> Answer<Void>? {
        number == sender ? withdraw() : nil
    }

    private mutating func withdraw() -> Answer<Void>? {
        guard case .offered(_, let answer) = phase else { return nil }
        phase = .idle
        return answer
    }

    enum Ask {
        /// The reader waits for its answer.
        case wait
        /// A sender waits for an answer. The element is the reader's.
        case take(Element, Answer<Void>)
        case end(Result<Void, any Error>)
    }

    /// The reader wants an element.
    mutating func ask(_ answer: Answer<Element?>) -> Ask {
        switch phase {
        case .idle:
            phase = .asked(answer)
            return .wait
        case .offered(let element, let sender):
            phase = .idle
            hasHandedOver = true
            return .take(element, sender)
        case .asked:
            preconditionFailure("A stream is read by one Task at a time.")
        case .ended(let result):
            phase = .over
            return .end(result)
        case .over:
            return .end(.success(()))
        }
    }

    /// What the caller answers outside the lock.
    struct Waiting {
        /// Whether there was no end before.
        var isFirstEnd = true
        var reader: Answer<Element?>?
        var sender: Answer<Void>?
    }

    /// There are no more elements: the operation has ended, or the reader leaves. Only the first end counts.
    mutating func end(_ result: Result<Void, any Error>) -> Waiting {
        switch phase {
        case .idle:
            phase = .ended(result)
            return Waiting()
        case .offered(_, let sender):
            phase = .ended(result)
            return Waiting(sender: sender)
        case .asked(let reader):
            phase = .over
            return Waiting(reader: reader)
        case .ended, .over:
            return Waiting(isFirstEnd: false)
        }
    }
}
