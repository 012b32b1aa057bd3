/// The stages of a request that run your code and can have a queue and a time limit.
public enum UserStage: String, Sendable, CaseIterable {
    /// ``URLRequestOperation/process(_:)``.
    case process
    /// ``URLRequestOperation/makeTask(for:)``.
    case makeTask
    /// ``URLRequestOperation/validate(_:)-(TransportResponse)``, for a whole response.
    case validate
    /// ``URLRequestOperation/decode(_:)``.
    case decode
    /// ``RetryingOperation/retryDecision(after:)``.
    case retryDecision

    /// The stage as errors name it.
    public var stage: RequestError.Stage {
        switch self {
        case .process: .process
        case .makeTask: .makeTask
        case .validate: .validate
        case .decode: .decode
        case .retryDecision: .retryDecision
        }
    }
}
