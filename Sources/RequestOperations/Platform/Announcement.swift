/// How an operation announces a change of what its properties tell.
enum Announcement {
    /// Whether Foundation wants to hear before the change as well, as key-value observing does; on Linux it need not.
    ///
    /// Before the change nobody can know for certain that there will be one: of two threads that start or finish one
    /// operation at the very same moment the second then announces what has changed already. Where nothing is said
    /// beforehand, nothing is said of a change that came to nothing.
    static var precedesChange: Bool {
        #if canImport(FoundationNetworking)
            false
        #else
            true
        #endif
    }

    /// The properties that are announced.
    enum Property: String {
        case isExecuting
        case isFinished
    }
}

extension Operation {
    func willChange(_ property: Announcement.Property) {
        if Announcement.precedesChange { willChangeValue(forKey: property.rawValue) }
    }

    /// Ends what ``willChange(_:)`` began.
    func didChange(_ property: Announcement.Property, if hasChanged: Bool) {
        if hasChanged || Announcement.precedesChange { didChangeValue(forKey: property.rawValue) }
    }
}
