/// What is wrong with an endpoint, as a sentence.
struct EndpointProblem: Error, CustomStringConvertible {
    let description: String
}
