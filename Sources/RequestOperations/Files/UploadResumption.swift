/// When an upload by tus goes on where it broke off.
public struct UploadResumption: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        case attempts
        case processes(record: URL?)
    }

    let scope: Scope

    /// A retry of the operation goes on from the last byte that the server has. The default.
    public static let betweenAttempts = Self(scope: .attempts)

    /// A later operation goes on as well, also in another process, as long as the file is the same.
    ///
    /// The URL of the upload is kept in a side file in the folder of the file that is uploaded. Its hidden name begins with
    /// `.RequestOperations-`. The side file has the size and the modification date of the file, too. If either has changed, the
    /// upload begins anew. So it does if the server no longer has the upload. A success removes the side file.
    ///
    /// Bytes in memory have no folder, and a stream cannot be known again. For them this is the same as
    /// ``betweenAttempts``.
    public static let acrossProcesses = Self(scope: .processes(record: nil))

    /// A later operation goes on, as with ``acrossProcesses``. The side file has a place of your choice.
    ///
    /// Bytes in memory are known again by their digest.
    ///
    /// - Parameter record: The side file. Two uploads must not have the same one. Its folder must exist.
    public static func acrossProcesses(record: URL) -> Self { Self(scope: .processes(record: record)) }
}
