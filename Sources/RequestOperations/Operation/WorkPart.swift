/// A part of the work of an operation, which a Task of its own does when a wait before it is over.
///
/// Meanwhile there is no Task: a suspended one takes more than a KiB, and keeps what its deepest call took, which is several
/// for an attempt of a request. (An operation that was made in a Task keeps the small one of its ``TaskContext``.)
struct WorkPart: Sendable {
    /// Calls back once, when the part is to begin.
    let whenDue: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Does the part; returns the next one, or `nil` at the end of the work.
    let run: @Sendable () async throws -> WorkPart?
}
