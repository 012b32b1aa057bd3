/// Where the file of a download goes. Folders that are missing are made, with their parents.
public enum DownloadDestination: Sendable {
    /// The file has this URL. A link to a file is followed.
    case file(URL)

    /// The file goes into this folder, under the name that the server suggests.
    ///
    /// The name comes from `Content-Disposition` (RFC 6266), or else it is the last component of the last URL. It is made
    /// safe: no path, no control or invisible characters, no leading dot, no name that Windows reserves, at most 240 bytes.
    /// It is `download` if nothing is left.
    case folder(URL)

    /// A closure chooses the URL of the file from the head of the response.
    ///
    /// Called once for each response with the whole file, after its head was accepted, on a queue of the download. What it
    /// throws fails the attempt.
    case chosen(@Sendable (_ head: ResponseHead) throws -> URL)
}

/// What happens if there is a file already where a download should go.
public enum ExistingFilePolicy: Sendable, Hashable {
    /// The download fails with ``RequestError/Code/fileFailed``, before its body is read where that is possible. The old
    /// file is kept.
    case fail
    /// The new file replaces the old one in one step, when it is complete. Until then the old file is kept. The new file
    /// gets the permissions of the old one.
    case replace
    /// The new file gets the next free name: `a.tar.gz`, `a-2.tar.gz`, `a-3.tar.gz`.
    case uniqueName
}
