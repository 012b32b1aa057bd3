/// The choices that ``URLEncodedFormEncoder`` and ``URLEncodedFormDecoder`` offer.
public enum FormOptions {
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

    /// How the names of nested members are written.
    public enum Nesting: Sendable {
        /// `a[b]=1`.
        case brackets
        /// `a.b=1`. A decoder also reads `a[0].b=1` for arrays.
        case dots
        /// The name that a closure makes from the outer name and the member's name. A decoder cannot read it.
        case custom(@Sendable (_ outer: String, _ name: String) -> String)
    }

    /// How `true` and `false` are written. A decoder reads both.
    public enum Booleans: Sendable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How dates are written. `Closure` is the type of a custom way, which differs between encoder and decoder.
    public enum Dates<Closure: Sendable>: Sendable {
        /// As `Date` encodes itself: seconds since the beginning of 2001.
        case deferred
        /// Seconds since the beginning of 1970, with their fraction. `Date` counts from 2001, so a decoded date may
        /// differ by less than a microsecond.
        case secondsSince1970
        /// Milliseconds since the beginning of 1970, with their fraction. They are as exact as ``secondsSince1970``.
        case millisecondsSince1970
        /// `2026-03-01T12:00:00Z`, without fractions of a second (RFC 3339). To write a date before year 0 or after
        /// year 9999 is an error.
        case iso8601
        /// As a closure writes or reads them.
        case custom(Closure)
    }

    /// How data is written. `Closure` is the type of a custom way, which differs between encoder and decoder.
    public enum DataValues<Closure: Sendable>: Sendable {
        /// As Base64 (RFC 4648, section 4).
        case base64
        /// As a closure writes or reads it.
        case custom(Closure)
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

extension FormOptions.Arrays {
    /// The name of an element.
    ///
    /// - Parameter isNumbered: Whether the number is written even if the options do not ask for numbers.
    func name(of index: Int, in array: String, isNumbered: Bool) -> String {
        switch self {
        case .custom(let make): make(array, index)
        case .none where !isNumbered: array
        case .brackets where !isNumbered: "\(array)[]"
        case .none, .brackets, .indices: "\(array)[\(index)]"
        }
    }
}

extension FormOptions.Nesting {
    func name(_ member: String, in outer: String) -> String {
        switch self {
        case .brackets: "\(outer)[\(member)]"
        case .dots: "\(outer).\(member)"
        case .custom(let make): make(outer, member)
        }
    }

    /// Whether a decoder would read a part of a name as nesting.
    func isStructured(_ name: String, isNested: Bool) -> Bool {
        switch self {
        case .brackets: name.isEmpty && isNested || name.utf8.contains(where: \.isBracket)
        case .dots: name.utf8.contains { $0 == UInt8(ascii: ".") || $0.isBracket }
        case .custom: false
        }
    }

    /// The parts of a name for a decoder. A name whose brackets do not match is one part.
    ///
    /// The name is split between bytes, because a bracket plus a combining mark is a different `Character`.
    func segments(of name: String) -> [String] {
        switch self {
        case .custom: [name]
        case .brackets: Self.bracketed(name.utf8[...]) ?? [name]
        case .dots:
            name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .flatMap { Self.bracketed($0) ?? [String(Substring($0))] }
        }
    }

    /// Splits `a[b][c]` into `a`, `b` and `c`.
    private static func bracketed(_ name: Substring.UTF8View) -> [String]? {
        let (opening, closing) = (UInt8(ascii: "["), UInt8(ascii: "]"))
        guard let first = name.firstIndex(of: opening), name.last == closing else { return nil }
        var parts = [String(Substring(name[..<first]))]
        var rest = name[name.index(after: first)...]
        while let bracket = rest.firstIndex(where: \.isBracket) {
            guard rest[bracket] == closing else { return nil }
            parts.append(String(Substring(rest[..<bracket])))
            rest = rest[rest.index(after: bracket)...]
            guard let next = rest.popFirst() else { return parts }
            guard next == opening else { return nil }
        }
        return nil
    }
}

extension FormOptions.Dates where Closure == @Sendable (Date) throws -> String {
    /// The text of a date. `nil` if the date is not finite, or if RFC 3339 cannot write its year (section 1: four
    /// digits).
    func text(_ date: Date) throws -> String? {
        switch self {
        case .custom(let make): return try make(date)
        case _ where !date.timeIntervalSinceReferenceDate.isFinite: return nil
        case .deferred: return date.timeIntervalSinceReferenceDate.description
        case .secondsSince1970: return date.timeIntervalSince1970.description
        case .millisecondsSince1970:
            let milliseconds = date.timeIntervalSince1970 * 1000
            return milliseconds.isFinite ? milliseconds.description : nil
        case .iso8601:
            // From the beginning of year 0 to the end of year 9999.
            let years = -62_167_219_200.0..<253_402_300_800.0
            return years.contains(date.timeIntervalSince1970) ? date.formatted(.iso8601) : nil
        }
    }
}

extension FormOptions.Dates where Closure == @Sendable (String) throws -> Date {
    /// The date that a text means; `nil` if it means none.
    func date(_ text: String) throws -> Date? {
        switch self {
        case .deferred: Double(plain: text).map(Date.init(timeIntervalSinceReferenceDate:))
        case .secondsSince1970: Double(plain: text).map(Date.init(timeIntervalSince1970:))
        case .millisecondsSince1970: Double(plain: text).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601: try? Date(text, strategy: .iso8601)
        case .custom(let read): try read(text)
        }
    }
}

extension FormOptions.DataValues where Closure == @Sendable (String) throws -> Data {
    /// The data that a text means; `nil` if it means none.
    func data(_ text: String) throws -> Data? {
        switch self {
        case .base64: Data(base64Encoded: text)
        case .custom(let read): try read(text)
        }
    }
}

extension UInt8 {
    fileprivate var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Reads a finite number in decimal digits. Swift's own initializer also accepts `nan`, `inf` and hexadecimal
    /// digits, which the encoder never writes.
    init?(plain text: String) {
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Self(text), number.isFinite
        else { return nil }
        self = number
    }
}
