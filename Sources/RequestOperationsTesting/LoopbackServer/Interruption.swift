/// Why a request does not take its regular course.
enum Interruption: Error {
    /// The connection ended.
    case ended(LoopbackServer.ConnectionRecord.End)
    /// The client is answered with an error, and the connection ends.
    case refused(status: Int)
}
