/// Why an argument or a line of the input makes no request.
struct UnusableInput: Error, Equatable {
    /// Where the fault is, in characters from 1; `nil` if it is in the whole, or its place is not known.
    let column: Int?

    private let fault: String

    /// Makes an error.
    ///
    /// - Parameter fault: Half a sentence.
    init(_ fault: String, column: Int? = nil) {
        self.fault = fault
        self.column = column
    }

    /// Half a sentence with the column, for the terminal.
    var reason: String { column.map { "\(fault) (column \($0))" } ?? fault }

    /// Half a sentence with the column in a part of the text, such as `the URL`.
    func reason(in part: String) -> String { column.map { "\(fault) (column \($0) of \(part))" } ?? fault }

    /// The same error in a text that begins at a column of another one.
    func beginning(at start: Int) -> UnusableInput {
        UnusableInput(fault, column: start + (column ?? 1) - 1)
    }
}
