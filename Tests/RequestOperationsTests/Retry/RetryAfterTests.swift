import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RetryAfterTests {
    /// 1994-11-06 08:49:37 GMT, the date of RFC 9110's examples.
    private static let example = Date(timeIntervalSince1970: 784_111_777)

    private static func date(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!  // Zero is a valid offset.
        // All arguments are dates that exist.
        return calendar.date(
            from: DateComponents(year: year, month: month, day: day, hour: hour, minute: minute))!
    }

    // MARK: Seconds

    @Test(arguments: [
        ("0", 0), ("1", 1), ("120", 120), ("000007", 7), (" 5 ", 5), ("\t5\t", 5), ("21600", 21600),
    ])
    func `Digits are seconds`(value: String, seconds: Int) {
        #expect(RetryAfter.delay(value, now: Self.example) == .seconds(seconds))
    }

    @Test(
        arguments: [
            ("1.5", 1500), ("0.25", 250), ("0.0", 0), ("1.000", 1000), ("2.0004", 2000), ("120.999", 120_999),
            (" 3.5\t", 3500),
            ("007.5", 7500), ("0.001", 1), ("30.", nil), (".5", nil), ("1.5.2", nil), ("1.5 s", nil), ("1.-5", nil),
            ("1.5e3", nil),
            ("+1.5", nil), ("-1.5", nil), ("-0.5", nil), ("1..5", nil), ("1.٥", nil), ("1. 5", nil), (".", nil),
            ("0.5, 1", nil),
        ] as [(String, Int?)])
    func `Digits with a fraction are seconds too`(value: String, milliseconds: Int?) throws {
        let delay = RetryAfter.delay(value, now: Self.example)
        // A division of durations is not exact.
        #expect(delay.map { Int(($0 / .milliseconds(1)).rounded()) } == milliseconds)
    }

    @Test(arguments: [
        "99999999999", "99999999999.5", "9223372036854775807", "9223372036854775808",
        String(repeating: "9", count: 400),
    ])
    func `An overflowing number is very long`(value: String) throws {
        let delay = try #require(RetryAfter.delay(value, now: Self.example))
        #expect(delay > .seconds(3_000_000_000) && delay <= .seconds(100_000_000_001))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1,5", "1e3", "0x10", "soon", "12 s", "120, 60", "٣", "１", "1\n2", "NaN", "-", ",",
        "∞",
        "--", "1;2", "\"5\"",
    ])
    func `What is neither digits nor a date is ignored`(value: String) {
        #expect(RetryAfter.delay(value, now: Self.example) == nil)
    }

    // MARK: Dates

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "  Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37", "Sun, 06-Nov-1994 08:49:37 UTC",
        "Sunday, 06-Nov-94 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37", "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  6 08:49:37 1994 UTC", "Sun Nov 06 08:49:37 1994",
    ])
    func `A date of each form is the time until it`(value: String) {
        #expect(RetryAfter.delay(value, now: Self.example - 90) == .seconds(90))
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT",
    ])
    func `A date in the past means now`(value: String) {
        #expect(RetryAfter.delay(value, now: Self.example + 1) == .zero)
    }

    @Test(arguments: [
        "Sunflower, 06 Nov 1994 08:49:37 GMT", "Sund, 06 Nov 1994 08:49:37 GMT", "Monda, 06-Nov-94 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT", "Tues Nov  6 08:49:37 1994", "Su, 06 Nov 1994 08:49:37 GMT",
    ])
    func `A date without a real weekday is none`(_ text: String) {
        #expect(RetryAfter.delay(text, now: Self.example) == nil)
    }

    @Test(arguments: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
    func `Every weekday is read in both forms`(_ day: String) {
        for name in [day, String(day.prefix(3))] {
            #expect(RetryAfter.delay("\(name), 06 Nov 1994 08:49:37 GMT", now: Self.example - 9) == .seconds(9))
        }
    }

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT"])
    func `This very second means now`(value: String) {
        #expect(RetryAfter.delay(value, now: Self.example) == .zero)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 +0100", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 GMT UTC",
        "Sun, 06 Nov 1994 UTC", "GMT", "Sun, 06 Nov 1994 08:49:37 UTC+1", "Sun Nov 6 08:49:37",
        "Sun Nov  6 08:49:37 CET 1994",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 194 08:49:37 GMT", "Sun, 06 Nov 19945 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 -8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37: GMT", "1994-11-06T08:49:37Z",
        "06 Nov 1994 08:49:37 GMT",
        "Never, 06 Nov 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    ])
    func `What is no date of HTTP is ignored`(value: String) {
        #expect(RetryAfter.delay(value, now: Self.example) == nil)
    }

    @Test func `The leap day of a leap year is a date`() {
        #expect(RetryAfter.delay("Thu, 29 Feb 2024 00:00:10 GMT", now: Self.date(2024, 2, 29)) == .seconds(10))
    }

    @Test func `A leap second is the second after the last`() {
        #expect(
            RetryAfter.delay("Sat, 31 Dec 2016 23:59:60 GMT", now: Self.date(2016, 12, 31, 23, 59)) == .seconds(60))
    }

    @Test func `The last date of four digits is far away`() throws {
        let delay = try #require(RetryAfter.delay("Fri, 31 Dec 9999 23:59:59 GMT", now: Self.example))
        #expect(delay > .seconds(250_000_000_000))
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func `A senseless present does not trap`(now: Double) {
        let now = Date(timeIntervalSince1970: now)
        for value in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"] {
            #expect(RetryAfter.delay(value, now: now) ?? .zero >= .zero)
        }
    }

    // MARK: Years of two digits

    @Test func `A year of two digits may be fifty years ahead to the second`() throws {
        let now = Self.date(2026, 1, 2)
        let delay = try #require(RetryAfter.delay("Thursday, 02-Jan-76 00:00:00 GMT", now: now))
        #expect(delay == .seconds(Self.date(2076, 1, 2).timeIntervalSince(now)))
    }

    @Test func `A year of two digits is not fifty years and a second ahead`() throws {
        let delay = try #require(RetryAfter.delay("Thursday, 02-Jan-76 00:00:01 GMT", now: Self.date(2026, 1, 2)))
        #expect(delay == .zero)
    }

    @Test(
        arguments: [
            // At most 50 years ahead: the future.
            ("Monday, 01-Jan-76 00:00:00 GMT", 2026, 1, 2, 2076),
            // More than 50 years ahead, by months: the past, which means now.
            ("Thursday, 31-Dec-76 00:00:00 GMT", 2026, 1, 2, nil),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 2026, 1, 2, nil),
            // Across the turn of the century.
            ("Friday, 01-Jan-00 00:00:00 GMT", 2099, 12, 31, 2100),
            ("Friday, 01-Jan-10 00:00:00 GMT", 2080, 1, 1, 2110),
            ("Friday, 31-Dec-99 00:00:00 GMT", 2100, 1, 1, nil),
        ] as [(String, Int, Int, Int, Int?)])
    func `A year of two digits is the latest within fifty years`(
        value: String, year: Int, month: Int, day: Int, expected: Int?
    ) throws {
        let now = Self.date(year, month, day)
        let delay = try #require(RetryAfter.delay(value, now: now))
        let until = expected.map { Self.date($0, 1, 1).timeIntervalSince(now) } ?? 0
        #expect(delay == .seconds(until))
    }
}
