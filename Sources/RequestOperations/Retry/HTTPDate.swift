/// Dates of HTTP (RFC 9110, section 5.6.7).
package enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    ///
    /// Each form may end with `GMT`, `UTC` or no zone, because all dates of HTTP are in UTC. Other zones are not read.
    /// We do not check that the weekday fits the date.
    ///
    /// - Parameter now: The reference for a year of two digits. We take the latest year that puts the date at most 50
    ///   years after it.
    package static func parse(_ text: String, now: Date) -> Date? {
        var words = text.split(whereSeparator: { " ,-".contains($0) }).map(String.init)
        if let zone = words.last, ["GMT", "UTC"].contains(zone) { words.removeLast() }
        guard words.count == 5, weekdays.contains(words[0]) else { return nil }
        // Only the form of C's `asctime` has the month before the day. Of the other two forms, only the obsolete one
        // has a year of two digits.
        return months.contains(words[1])
            ? date(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
            : date(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
    }

    private static let weekdays = [
        "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func date(day: String, month: String, year: String, time: String, now: Date) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map {
            number(String($0), digits: 2...2)
        }
        guard let day = number(day, digits: 1...2), (1...31).contains(day),
            let month = months.firstIndex(of: month),
            let digits = number(year, digits: year.count == 2 ? 2...2 : 4...4),
            clock.count == 3, let hour = clock[0], hour < 24, let minute = clock[1], minute < 60,
            let second = clock[2], second <= 60
        else { return nil }
        func date(in year: Int) -> Date? {
            let components = DateComponents(
                year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
            guard let date = calendar.date(from: components), calendar.component(.day, from: date) == day else {
                return nil
            }
            // We parsed 60 as 59, so we add one second for the leap second.
            return second == 60 ? date + 1 : date
        }
        guard year.count == 2 else { return date(in: digits) }
        guard let latest = calendar.date(byAdding: .year, value: 50, to: now) else { return nil }
        let century = calendar.component(.year, from: now) / 100 * 100
        return [century + 100, century, century - 100].lazy.compactMap { date(in: $0 + digits) }.first { $0 <= latest }
    }

    private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        // Zero seconds from GMT is a valid offset.
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        return calendar
    }()
}
