package import Foundation

/// Dates as a store takes them and gives them back: of the years 1 to 9999, as any calendar can show them.
extension Date {
    private static let storable = -62_135_596_800.0...253_402_300_799.0

    /// The nearest date that can be stored; `nil` for a date whose time is not a number.
    package var storable: Date? {
        timeIntervalSinceReferenceDate.isNaN ? nil : Date(storedSeconds: timeIntervalSince1970)
    }

    /// The nearest date that can be stored. A time that is not a number counts as the beginning of 1970.
    package init(storedSeconds seconds: Double) {
        let seconds = seconds.isNaN ? 0 : seconds
        self.init(timeIntervalSince1970: min(max(seconds, Self.storable.lowerBound), Self.storable.upperBound))
    }

    /// The latest date that can be stored.
    static let latest = Date(timeIntervalSince1970: storable.upperBound)

    /// Whether a number of seconds since 1970 is one of a date that can be stored.
    static func canStore(_ seconds: Double) -> Bool { storable.contains(seconds) }
}
