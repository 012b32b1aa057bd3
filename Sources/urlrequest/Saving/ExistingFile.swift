/// What becomes of a file that stands where a body is to be saved.
enum ExistingFile: String, CaseIterable, Sendable {
    /// It is kept, and the request is not sent.
    case skip
    /// The body replaces it.
    case overwrite
    /// It is kept, and the body gets the next free number.
    case number
}
