import RequestOperations

/// The system's text for an error number.
func errorText(_ number: Int32) -> String {
    String(cString: strerror(number))
}

/// The text of an error in one line: that of the system if it refused something, or else what the error says itself.
func errorText(_ error: any Error) -> String {
    if let error = error as? UnusableInput { return error.reason }
    if let error = error as? POSIXError { return errorText(error.code.rawValue) }
    guard let error = error as? CocoaError else { return "\(error)" }
    return error.underlyingNumber.map(errorText) ?? error.localizedDescription
}

/// The text of a request's error in one line. It names an option of this tool where the library names a setting.
func toolText(_ error: any Error) -> String {
    "\(error)".replacingOccurrences(
        of: "add the certificate of a private authority to TrustPolicy.additionalRoots", with: rootsAdvice)
}

/// What helps against a root that is unknown.
let rootsAdvice = "--cacert FILE trusts the root of a private authority"

extension CocoaError {
    /// The number of the system's error that is the cause.
    fileprivate var underlyingNumber: Int32? {
        switch userInfo[NSUnderlyingErrorKey] {
        case let cause as POSIXError: cause.code.rawValue
        case let cause as NSError where cause.domain == NSPOSIXErrorDomain: Int32(exactly: cause.code)
        default: nil
        }
    }
}
