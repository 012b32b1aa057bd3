/// A complete file that was downloaded.
public struct DownloadedFile: Sendable {
    /// Where the file is.
    public let url: URL

    /// The length of the file in bytes.
    public let size: Int64

    /// How many bytes of the file were there before the last request. They came from earlier attempts or processes. 0 if the
    /// last response had the whole file.
    public let resumedBytes: Int64

    /// The digests that the file was found to have: the caller's, and the server's `Repr-Digest`.
    public let verifiedDigests: [FileDigest]

    /// The head of the last response.
    public let head: ResponseHead
}
