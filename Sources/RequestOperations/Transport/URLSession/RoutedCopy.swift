/// A session with our delegate and the configuration of another session. It is made when it is first needed.
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
