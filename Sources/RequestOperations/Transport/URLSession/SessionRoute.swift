/// How a ``URLSessionTransport`` reaches its session.
enum SessionRoute: Sendable {
    /// Our delegate gets every call about the session's tasks.
    case routed(URLSession, URLSessionTransport.Delegate)
    /// The session has another delegate or none, so tasks have completion handlers.
    ///
    /// `session` makes the tasks. It is the caller's own session, `owner`, or a safe copy of it. Tasks that the caller
    /// makes need a session with our delegate: `custom`.
    case handlers(session: URLSession, owner: URLSession, custom: RoutedCopy)
    /// The session cannot be used. The text says why.
    case refused(String)

    /// The route to a session that the transport makes itself.
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

extension URLSessionConfiguration {
    /// The configuration of a transport that gets none from the caller. It stores nothing and sends nothing from a
    /// store.
    ///
    /// A cache, cookies and credentials are the job of the layers above. It allows up to 256 connections to one host.
    static func ofTransport() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        // Requests beyond this limit wait inside URLSession. They lose their order, and their time limits run.
        configuration.httpMaximumConnectionsPerHost = 256
        return configuration
    }

    /// Whether sessions of this configuration are safe on this platform.
    var isSafe: Bool {
        #if canImport(FoundationNetworking)
            // With a cache, a cancel that arrives as its task ends kills the process. A header field that is no string
            // does too.
            urlCache == nil && hasStringFieldsOnly
        #else
            true
        #endif
    }

    /// The same configuration, made safe.
    func safeCopy() -> URLSessionConfiguration {
        // `copy()` returns the type of `self`.
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
