/// A task that has its slots and may be sent now.
struct AdmittedTask: Sendable {
    /// The number of the attempt.
    let attempt: Int
    var task: TransportTask
    let rights: AttemptRights
}
