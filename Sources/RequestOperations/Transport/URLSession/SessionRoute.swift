/// How a ``URLSessionTransport`` reaches its session.
enum SessionRoute: Sendable {
    /// Our delegate hears of every step of the session's tasks.
    case routed(URLSession, URLSessionTransport.Delegate)
    /// The delegate is somebody else's, or there is none: tasks have completion handlers. They are made by `session`, which
    /// is the caller's own one, `owner`, or a safe copy of it. Tasks of the caller's making need a session with our
    /// delegate: `custom`.
    case handlers(session: URLSession, owner: URLSession, custom: RoutedCopy)
    /// The session cannot be used; the sentence says why.
    case refused(String)

    /// The route to a session of the transport's own.
    init(_ configuration: URLSessionConfiguration) {
        guard configuration.identifier == nil else {
            self = .refused(Self.backgroundSentence)
            return
        }
        let delegate = URLSessionTransport.Delegate()
        self = .routed(
            URLSession(configuration: configuration.safeCopy(), delegate: delegate, delegateQueue: .forDelivery),
            delegate)
    }

    /// The route to a caller's session.
    init(_ session: URLSession) {
        guard session.configuration.identifier == nil else {
            self = .refused(Self.backgroundSentence)
            return
        }
        guard session.delegateQueue.maxConcurrentOperationCount == 1 else {
            self = .refused("the session's delegate queue is not serial, so that bodies could arrive out of order")
            return
        }
        let mustBeCopied = !session.configuration.isSafe
        if let delegate = session.delegate as? URLSessionTransport.Delegate {
            self = mustBeCopied ? SessionRoute(session.configuration) : .routed(session, delegate)
        } else if session.delegate == nil, mustBeCopied {
            self = SessionRoute(session.configuration)
        } else {
            let safe =
                mustBeCopied
                ? URLSession(
                    configuration: session.configuration.safeCopy(), delegate: nil, delegateQueue: session.delegateQueue
                )
                : session
            self = .handlers(session: safe, owner: session, custom: RoutedCopy(of: session))
        }
    }

    /// Whether the session stores cookies and sends them.
    var keepsCookies: Bool {
        switch self {
        case .routed(let session, _), .handlers(let session, _, _): session.configuration.httpCookieStorage != nil
        case .refused: false
        }
    }

    private static let backgroundSentence =
        "a background session outlives the process, and an operation does not; use a session with another configuration"
}

/// A session with our delegate and the configuration of another, made when it is first needed.
final class RoutedCopy: Sendable {
    private let original: URLSession
    private let copy = Locked<(URLSession, URLSessionTransport.Delegate)?>(nil)

    init(of original: URLSession) {
        self.original = original
    }

    var session: (URLSession, URLSessionTransport.Delegate) {
        copy.withLock { copy in
            if let copy { return copy }
            let delegate = URLSessionTransport.Delegate()
            let session = URLSession(
                configuration: original.configuration.safeCopy(), delegate: delegate, delegateQueue: .forDelivery)
            copy = (session, delegate)
            return (session, delegate)
        }
    }
}

extension URLSessionConfiguration {
    /// The configuration of a transport that is given none: nothing is kept, and what is not kept is not sent. A cache,
    /// cookies and credentials are matters of the layers above. Up to 256 connections to one host.
    static func ofTransport() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        // What exceeds this waits inside URLSession, out of order and with its time limits running.
        configuration.httpMaximumConnectionsPerHost = 256
        return configuration
    }

    /// Whether sessions of this configuration are safe on this platform.
    var isSafe: Bool {
        #if canImport(FoundationNetworking)
            // With a cache, a cancel that meets the end of its task kills the process; so does a field that is no string.
            urlCache == nil && hasStringFieldsOnly
        #else
            true
        #endif
    }

    /// The same configuration, made safe.
    func safeCopy() -> URLSessionConfiguration {
        // `copy()` returns what `self` is.
        let copy = self.copy() as! URLSessionConfiguration
        #if canImport(FoundationNetworking)
            copy.urlCache = nil
            if !hasStringFieldsOnly {
                copy.httpAdditionalHeaders = httpAdditionalHeaders?.reduce(into: [:]) { fields, field in
                    fields[String(describing: field.key)] = String(describing: field.value)
                }
            }
        #endif
        return copy
    }

    private var hasStringFieldsOnly: Bool {
        httpAdditionalHeaders?.allSatisfy { $0.key is String && $0.value is String } ?? true
    }
}
