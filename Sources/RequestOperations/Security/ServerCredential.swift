/// What a server may be shown to let a request pass.
public enum ServerCredential: Sendable, Hashable {
    /// A user and a password, for the schemes Digest (RFC 7616) and Basic (RFC 7617).
    case password(user: String, password: String)
    /// A token, for the scheme Bearer (RFC 6750).
    case token(String)
}

extension ServerCredential: CustomStringConvertible, CustomReflectable {
    /// The kind of credential, without anything of it.
    public var description: String {
        switch self {
        case .password: "user and password"
        case .token: "token"
        }
    }

    /// No children, so that `dump` does not show the credential.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
