extension Error {
    /// The error as one line for a log. Errors of this package show their description. Other errors show their type,
    /// and their number if they have one. The text of a foreign error may quote a URL, a field or a body, as that of a
    /// `URLError` does.
    package var redacted: String {
        switch self {
        case let error as RequestError: error.description
        case let failure as TransferFailure: failure.description
        case let refusal as Hedging.Refusal: refusal.description
        case let error as DecodingError: "DecodingError, \(error.phrase)"
        case is CancellationError: "cancelled"
        case let error as any CustomNSError: "\(type(of: self)) \(error.errorCode)"
        default: "\(type(of: self))"
        }
    }
}
