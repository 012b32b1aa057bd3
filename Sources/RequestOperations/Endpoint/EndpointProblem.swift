/// A problem with an endpoint, described in one sentence.
struct EndpointProblem: Error, CustomStringConvertible {
    let description: String
}
