/// The scheme `Basic` (RFC 7617).
enum BasicAuthorization {
    /// The value of an `Authorization` field.
    ///
    /// - Returns: `nil` if the user has a colon, because the password begins after the first colon (section 2).
    static func field(user: String, password: String) -> String? {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
