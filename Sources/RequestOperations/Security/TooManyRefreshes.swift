/// The credential was renewed so often within the window that another renewal is unlikely to help.
struct TooManyRefreshes: Error {
    let count: Int
    let window: Duration

    var asRequestError: RequestError {
        RequestError(
            .stageFailed, stage: .process, underlying: self,
            reason: "the credential was refreshed \(count) times within \(window)")
    }
}
