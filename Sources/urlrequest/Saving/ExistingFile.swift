/// What to do if a file already exists where a body should be saved.
enum ExistingFile: String, CaseIterable, Sendable {
    /// The file is kept, and the request is not sent.
    case skip
    /// The body replaces it.
    case overwrite
    /// The file is kept, and the body gets the next free number.
    case number
}
