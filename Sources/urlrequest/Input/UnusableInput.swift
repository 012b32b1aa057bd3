/// Why an argument or line of the input does not make a request.
struct UnusableInput: Error, Equatable {
    /// The column of the error, in characters from 1. `nil` if the whole text is wrong or the column is unknown.
    let column: Int?

    private let fault: String

    /// Makes an error.
    ///
    /// - Parameter fault: The reason, as half a sentence.
    init(_ fault: String, column: Int? = nil) {
        self.fault = fault
        self.column = column
    }

    /// The reason as half a sentence, with the column, for the terminal.
    var reason: String { column.map { "\(fault) (column \($0))" } ?? fault }

    /// The reason as half a sentence, with the column in a part of the text, such as `the URL`.
    func reason(in part: String) -> String { column.map { "\(fault) (column \($0) of \(part))" } ?? fault }

    /// The same error for a text that begins at a column of another text.
    func beginning(at start: Int) -> UnusableInput {
        UnusableInput(fault, column: start + (column ?? 1) - 1)
    }
}
