/// Why an argument or a line of the input makes no request.
struct UnusableInput: Error, Equatable {
    /// Half a sentence, for the terminal.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
