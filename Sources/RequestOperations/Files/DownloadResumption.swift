/// When a download goes on where it broke off.
///
/// It does so only if the server names the state of the file by a strong validator (RFC 9110, section 8.8.1). A response to
/// such a request is asked for without compression (`Accept-Encoding: identity`), unless the request has the field. The file
/// of a server that compresses all the same is compressed, and is not resumed.
public struct DownloadResumption: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        case never
        case attempts
        case processes(key: String?)
    }

    let scope: Scope

    /// Each attempt begins at the first byte.
    public static let never = Self(scope: .never)

    /// A retry of the operation goes on where the attempt before it broke off. The default. If the operation fails or is
    /// cancelled, nothing stays in the folder. A process that is killed leaves a partial file, which
    /// ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes.
    public static let betweenAttempts = Self(scope: .attempts)

    /// A later operation goes on as well, also in another process.
    ///
    /// An operation that fails or is cancelled, or a process that is killed, leaves a partial file and a side file in the
    /// folder of the destination. Their hidden names begin with `.RequestOperations-`. An operation with the same destination
    /// and URL takes them over. One process at a time can do so: a second operation fails with
    /// ``RequestError/Code/fileFailed``. ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes those that no one
    /// takes over.
    ///
    /// With ``DownloadDestination/chosen(_:)`` the folder is not known before the response. So this is then the same as
    /// ``betweenAttempts``.
    public static let acrossProcesses = Self(scope: .processes(key: nil))

    /// A later operation with the same destination and key goes on, as with ``acrossProcesses``.
    ///
    /// - Parameter key: Names the file in place of the URL. For a URL provider, the URL without its query is the default. Give
    ///   a key if the query of a provided URL tells files apart: otherwise one could go on from the bytes of another.
    public static func acrossProcesses(key: String) -> Self { Self(scope: .processes(key: key)) }
}
