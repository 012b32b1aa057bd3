import Foundation

/// A file to which each ``RequestEvent`` is appended as one line of JSON.
///
/// ```swift
/// let log = try EventLog(appendingTo: file)
/// configuration.onEvent = log.write
/// ```
///
/// A configuration has one listener. With another one: `configuration.onEvent = { log.write($0); other($0) }`.
///
/// A line shows no credentials: the URL has the default ``Redaction``, and no line has fields or bodies. Several processes may
/// append to one file. Each line is written at once.
public final class EventLog: Sendable {
    private struct State {
        let file: FileHandle
        let encoder = JSONEncoder.ofReports
        var failure: (any Error)?
    }

    private let state: Locked<State>

    /// Opens a file, and creates it if it is missing. Never blocks a request: ``RequestConfiguration/onEvent`` has a queue of its
    /// own.
    ///
    /// - Parameter file: The file. Its folder must exist.
    /// - Throws: A `POSIXError` if it cannot be opened.
    public init(appendingTo file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        state = Locked(State(file: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)))
    }

    /// The last line that could not be written failed with this error, such as that of a full disk. `nil` if all were written.
    public var failure: (any Error)? { state.withLock { $0.failure } }

    /// Appends an event. A line that cannot be written is dropped, and ``failure`` says why.
    ///
    /// - Parameter event: The event.
    public func write(_ event: RequestEvent) {
        state.withLock { state in
            do {
                try state.file.write(contentsOf: try state.encoder.encode(event) + [UInt8(ascii: "\n")])
            } catch {
                state.failure = error
            }
        }
    }
}

extension RequestEvent: Encodable {
    private enum Key: String, CodingKey {
        case request, attempt, method, url, date, elapsed, event, text, missed
        case status, seconds, reason, target, code, stage, outcome
    }

    /// Encodes the request, the attempt, the method, the URL, the date, the time in seconds, the ``Step/name`` and a text for
    /// people. A step adds its values: `status`, `seconds`, `reason`, `target`, `code`, `stage` or `outcome`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id.rawValue, forKey: .request)
        try container.encodeIfPresent(attempt, forKey: .attempt)
        try container.encode(method, forKey: .method)
        try container.encode(url, forKey: .url)
        try container.encode(date, forKey: .date)
        try container.encode(elapsed.inSeconds, forKey: .elapsed)
        try container.encode(step.name, forKey: .event)
        try container.encode("\(step)", forKey: .text)
        if missed > 0 { try container.encode(missed, forKey: .missed) }
        switch step {
        case .notHedged(let reason): try container.encode(reason, forKey: .reason)
        case .gotSlot(let waited): try container.encode(waited.inSeconds, forKey: .seconds)
        case .redirected(_, let target):
            try container.encode(Redaction.default.text(of: target), forKey: .target)
        case .head(let head): try container.encode(head.status, forKey: .status)
        case .uploadRefused(let status): try container.encode(status, forKey: .status)
        case .attemptFailed(let failure): try container.encode("\(failure.code)", forKey: .code)
        case .waits(let delay):
            try container.encode(delay.inSeconds, forKey: .seconds)
            try container.encodeIfPresent(waitReason.map { "\($0)" }, forKey: .reason)
        case .woke(let reason): try container.encode("\(reason)", forKey: .reason)
        case .abandoned(let stage): try container.encode(stage.rawValue, forKey: .stage)
        case .ended(let error):
            let outcome = RequestTimeline.Outcome(error)
            try container.encode(outcome.word, forKey: .outcome)
            if case .failed = outcome {
                try container.encodeIfPresent((error as? RequestError).map { "\($0.code)" }, forKey: .code)
            }
        case .began, .attemptBegan, .hedgeBegan, .hedgeDecided, .waitsForSlot, .waitsForConnectivity, .decided: break
        }
    }
}

extension JSONEncoder {
    /// Sorted keys, slashes as they are, dates in ISO 8601 with milliseconds.
    static var ofReports: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.ISO8601Format(.init(includingFractionalSeconds: true)))
        }
        return encoder
    }
}
