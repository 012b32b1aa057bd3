import RequestOperations

/// Standard output of the commands that print one thing after another. ``Reporter`` prints the results of `run`.
enum StandardOutput {
    private static let writer = PatientWriter(to: STDOUT_FILENO)

    /// Prints a line. It can be read as soon as this returns.
    static func print(_ line: some CustomStringConvertible) throws(PatientWriter.Failure) {
        try write(Data("\(line)\n".utf8))
    }

    /// Writes bytes.
    static func write(_ bytes: Data) throws(PatientWriter.Failure) {
        if let failure = writer.write(bytes) { throw failure }
    }

    /// Tells people about a failure. It says nothing if the reader is gone, since that is how a reader ends a program.
    ///
    /// - Returns: The exit status.
    static func tell(of failure: PatientWriter.Failure) -> Int32 {
        guard failure != .closed else { return ExitStatus.outputClosed }
        TerminalScreen().print("urlrequest: \(failure.text)\n")
        return ExitStatus.failure
    }
}

extension PatientWriter.Failure {
    /// What it says about standard output.
    var text: String {
        switch self {
        case .closed: "standard output: \(errorText(EPIPE))"
        case .stalled: "standard output: nobody reads it, results are lost"
        case .refused(let number): "standard output: \(errorText(number))"
        }
    }
}
