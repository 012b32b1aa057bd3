/// Standard output could not be written to.
struct OutputFailure: Error {
    let cause: PatientWriter.Failure

    /// A line about it. `nil` if the reader has closed its end: it wanted no more.
    var message: String? {
        switch cause {
        case .closed: nil
        case .stalled: "urlrequest: standard output: nobody reads it, results are lost\n"
        case .refused(let number): "urlrequest: standard output: \(errorText(number))\n"
        }
    }

    /// The exit status of a command that ends with it.
    var status: Int32 { cause == .closed ? ExitStatus.outputClosed : ExitStatus.failure }
}
