/// Where an upload is on its server.
struct TusLocation: Sendable, Hashable, Codable {
    /// The URL of the upload.
    let url: URL
    /// When the server removes it, if it is not complete by then. `nil` if the server does not say.
    var expires: Date?
}
