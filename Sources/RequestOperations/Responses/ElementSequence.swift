/// Elements that are read one after another: ``StreamLines``, ``ServerSentEvents`` or ``Pages``.
public struct ElementSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let describe: @Sendable () -> String
    private let begin: @Sendable () -> ElementIterator<Element>

    init(
        describe: @escaping @Sendable () -> String, begin: @escaping @Sendable () -> ElementIterator<Element>
    ) {
        self.describe = describe
        self.begin = begin
    }

    /// Begins to read. It traps if a response was iterated before, as ``StreamLines`` and ``ServerSentEvents`` say.
    public func makeAsyncIterator() -> ElementIterator<Element> { begin() }
}

extension ElementSequence: CustomStringConvertible, OpaqueReflectable {
    /// What is read, with the method and the location of the request.
    public var description: String { describe() }
}

/// Reads the elements of an ``ElementSequence`` or of ``StreamBytes`` one by one.
public struct ElementIterator<Element: Sendable>: AsyncIteratorProtocol {
    private let read: () async throws -> Element?

    /// - Parameter read: Gets the next element. `nil` at the end, also after an error.
    init(_ read: @escaping () async throws -> Element?) {
        self.read = read
    }

    /// The next element. `nil` at the end.
    ///
    /// - Throws: The error of the operation that brings the elements, or a `CancellationError`. After that, the sequence is at its
    ///   end.
    public mutating func next() async throws -> Element? { try await read() }
}
