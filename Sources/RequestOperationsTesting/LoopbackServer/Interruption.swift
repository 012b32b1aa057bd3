/// Why the server cannot handle a request in the normal way.
enum Interruption: Error {
    /// The connection ended.
    case ended(LoopbackServer.ConnectionRecord.End)
    /// The server answers with an error and ends the connection.
    case refused(status: Int)
}
