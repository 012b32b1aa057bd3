extension URLEncodedFormEncoder {
    /// How the elements of an array are named.
    public enum Arrays: Sendable {
        /// `a=1&a=2`: the name is repeated for each element.
        case none
        /// `a[0]=1&a[1]=2`.
        case indices
        /// `a[]=1&a[]=2`.
        case brackets
        /// The name that a closure makes for an element, from the name of the array and the element's number (from 0).
        case custom(@Sendable (_ name: String, _ index: Int) -> String)
    }

    /// How the members of nested values are named.
    public enum Nesting: Sendable {
        /// `a[b]=1`.
        case brackets
        /// `a.b=1`.
        case dots
        /// The name that a closure makes from the outer name and the member's name.
        case custom(@Sendable (_ outer: String, _ name: String) -> String)
    }

    /// How `true` and `false` are written.
    public enum Booleans: Sendable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How dates are written.
    public enum Dates: Sendable {
        /// As `Date` encodes itself: seconds since the beginning of 2001.
        case deferred
        /// Seconds since the beginning of 1970, with their fraction. `Date` counts from 2001, so a decoded date may
        /// differ by less than a microsecond.
        case secondsSince1970
        /// Milliseconds since the beginning of 1970, with their fraction. They are as exact as ``secondsSince1970``.
        case millisecondsSince1970
        /// `2026-03-01T12:00:00Z`, without fractions of a second (RFC 3339). A date before year 0 or after year 9999 is
        /// an error.
        case iso8601
        /// The text that a closure makes.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How data is written.
    public enum DataValues: Sendable {
        /// As Base64 (RFC 4648, section 4).
        case base64
        /// The text that a closure makes.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How properties and values that are `nil` are written.
    public enum Nils: Sendable {
        /// They are not written. A `nil` in an array is an error, because the elements after it would move up.
        case dropped
        /// `a=`.
        case empty
        /// `a=null`.
        case null
    }

    /// How a space is written.
    public enum Spaces: Sendable {
        /// `%20`.
        case percent
        /// `+`.
        case plus
    }

    /// How line breaks in names and values are written.
    public enum LineBreaks: Sendable {
        /// As they are.
        case asGiven
        /// Each CR, LF and CRLF becomes CRLF, as in forms from browsers (WHATWG HTML, "convert to a list of name-value
        /// pairs").
        case normalized
    }

    /// Which characters stand for themselves. All others are percent-encoded in UTF-8, including the space unless it is
    /// written as `+`.
    public enum Characters: Sendable {
        /// Letters, digits and `-._~` (RFC 3986, section 2.3), and also `?` and `/`, which a query may hold (section
        /// 3.4).
        case rfc3986
        /// Letters, digits and `*-._`, as in forms from browsers (WHATWG URL, section 5.2).
        case whatwg
    }
}
