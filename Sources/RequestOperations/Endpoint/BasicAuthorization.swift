/// The scheme `Basic` (RFC 7617).
enum BasicAuthorization {
    /// The value of an `Authorization` field.
    ///
    /// - Throws: ``RequestError/Code/badURL`` if the user has a colon, because the password begins after the first
    ///   colon (section 2).
    static func field(user: String, password: String) throws -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw EndpointURL.bad("the user in the URL has a colon, which the scheme Basic cannot send")
        }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
