/// How an operation announces that one of its properties changes.
enum Announcement {
    /// Whether Foundation must also be told before the change, as key-value observing requires. On Linux it need not be
    /// told.
    ///
    /// Before the change, it is not certain that there will be one. If two threads start or finish an operation at the
    /// same moment, the second announces a change that has already happened. Without an announcement beforehand, a
    /// change that did not happen is not announced at all.
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

    /// Ends the announcement that ``willChange(_:)`` began.
    func didChange(_ property: Announcement.Property, if hasChanged: Bool) {
        if hasChanged || Announcement.precedesChange { didChangeValue(forKey: property.rawValue) }
    }
}
