/// Refers to an observer without keeping it.
// Unchecked, because the weak reference is set only once, by `init`.
final class ObserverReference: @unchecked Sendable {
    private(set) weak var observer: (any RequestObserver)?

    init(_ observer: any RequestObserver) {
        self.observer = observer
    }
}
