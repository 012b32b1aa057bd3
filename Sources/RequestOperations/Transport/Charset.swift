/// A character encoding that decodes text strictly (RFC 9110, section 8.3.2).
struct Charset: Sendable, Hashable {
    private let encoding: String.Encoding

    /// The charset for one of Foundation's encodings.
    init(_ encoding: String.Encoding) {
        self.encoding = encoding
    }

    /// The charset with a name (IANA character sets, labels of the WHATWG Encoding standard); `nil` if it is unknown.
    ///
    /// Case and space around the name are ignored. So are apostrophes, which some servers use as quotation marks.
    init?(name: String) {
        guard let encoding = Self.encodings[Self.label(name)] else { return nil }
        self.encoding = encoding
    }

    /// Whether two names refer to the same charset.
    static func areSame(_ first: String, _ second: String) -> Bool {
        label(first) == label(second) || Charset(name: first).map { $0 == Charset(name: second) } ?? false
    }

    private static func label(_ name: String) -> String {
        let text = name.trimmingCharacters(in: asciiSpace)
        let isQuoted = text.count > 2 && text.first == "'" && text.last == "'"
        return (isQuoted ? text.dropFirst().dropLast().trimmingCharacters(in: asciiSpace) : text).lowercased()
    }

    private static let asciiSpace = CharacterSet(charactersIn: "\t\n\u{0C}\r ")

    /// The text of the bytes, without a byte order mark; `nil` if the bytes are not valid.
    ///
    /// Foundation alone is not strict. It drops an odd byte at the end, guesses the byte order, and accepts some bytes
    /// that a code page leaves undefined.
    func text(of bytes: Data) -> String? {
        let mark = encoding.marks.first { bytes.starts(with: $0.bytes) }
        let content = bytes.dropFirst(mark?.bytes.count ?? 0)
        guard content.count.isMultiple(of: encoding.unitSize),
            let text = String(data: content, encoding: mark?.encoding ?? encoding.withoutMark),
            !encoding.isCodePage || !text.unicodeScalars.contains(where: \.standsForUndefinedByte),
            // Foundation takes this undefined byte for a letter.
            encoding != .windowsCP1253 || !content.contains(0xAA)
        else { return nil }
        return text
    }

    /// The charsets that Foundation decodes correctly on every platform. They were compared with Python's tables. On
    /// Linux, EUC-JP does not decode at all. They are listed at `ResponseDecoder.string(default:)`.
    private static let encodings: [String: String.Encoding] = {
        var encodings: [String: String.Encoding] = [
            "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii, "ansi_x3.4-1968": .ascii,
            "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
            "utf-32": .utf32, "utf-32le": .utf32LittleEndian, "utf-32be": .utf32BigEndian,
            "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
            "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
            "koi8-r": .coreFoundation(0x0A02), "koi8-u": .coreFoundation(0x0A08), "ibm866": .coreFoundation(0x041B),
            "shift_jis": .shiftJIS, "iso-2022-jp": .iso2022JP,
            // GB 18030 contains all of the older charsets, Big5-HKSCS all of Big5, and the Windows code page all of
            // EUC-KR.
            "gb18030": .coreFoundation(0x0632), "big5": .coreFoundation(0x0A06), "euc-kr": .coreFoundation(0x0422),
            "windows-874": .coreFoundation(0x041D),
        ]
        for (page, offset) in zip(1255...1258, UInt(5)...) {
            encodings["windows-\(page)"] = .coreFoundation(0x0500 + offset)
        }
        for part in [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16] as [UInt] {
            encodings["iso-8859-\(part)"] = .coreFoundation(0x0200 + part)
        }
        encodings["iso-8859-1"] = .isoLatin1
        encodings["iso-8859-2"] = .isoLatin2
        // Other names for the same charsets, as servers spell them.
        for page in 1250...1258 { encodings["cp\(page)"] = encodings["windows-\(page)"] }
        for part in 1...16 {
            for name in ["iso_8859-\(part)", "iso8859-\(part)"] { encodings[name] = encodings["iso-8859-\(part)"] }
        }
        for (latin, part) in [1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 9: 15, 10: 16] {
            encodings["latin\(latin)"] = encodings["iso-8859-\(part)"]
        }
        for (name, labels) in aliases { for label in labels { encodings[label] = encodings[name] } }
        return encodings
    }()

    /// The other labels of the WHATWG Encoding standard. Labels that mean something else in the IANA registry, such as
    /// `unicode` and `ucs-2`, are left out.
    private static let aliases: [String: [String]] = [
        "utf-8": ["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"],
        "us-ascii": ["iso-ir-6", "iso646-us", "csascii", "us"],
        "iso-8859-1": ["iso88591", "iso_8859-1:1987", "iso-ir-100", "csisolatin1", "l1", "cp819", "ibm819"],
        "iso-8859-2": ["iso88592", "iso_8859-2:1987", "iso-ir-101", "csisolatin2", "l2"],
        "iso-8859-3": ["iso88593", "iso_8859-3:1988", "iso-ir-109", "csisolatin3", "l3"],
        "iso-8859-4": ["iso88594", "iso_8859-4:1988", "iso-ir-110", "csisolatin4", "l4"],
        "iso-8859-5": ["iso88595", "iso_8859-5:1988", "iso-ir-144", "csisolatincyrillic", "cyrillic"],
        "iso-8859-6": [
            "iso88596", "iso_8859-6:1987", "iso-ir-127", "csisolatinarabic", "arabic", "asmo-708", "ecma-114",
            "iso-8859-6-e", "iso-8859-6-i", "csiso88596e", "csiso88596i",
        ],
        "iso-8859-7": [
            "iso88597", "iso_8859-7:1987", "iso-ir-126", "csisolatingreek", "greek", "greek8", "ecma-118", "elot_928",
            "sun_eu_greek",
        ],
        "iso-8859-8": [
            "iso88598", "iso_8859-8:1988", "iso-ir-138", "csisolatinhebrew", "hebrew", "visual", "logical",
            "iso-8859-8-e",
            "iso-8859-8-i", "csiso88598e", "csiso88598i",
        ],
        "iso-8859-9": ["iso88599", "iso_8859-9:1989", "iso-ir-148", "csisolatin5", "l5"],
        "iso-8859-10": ["iso885910", "iso-ir-157", "csisolatin6", "l6"],
        "iso-8859-11": ["iso885911"], "iso-8859-13": ["iso885913"], "iso-8859-14": ["iso885914"],
        "iso-8859-15": ["iso885915", "csisolatin9", "l9"],
        "windows-1250": ["x-cp1250"], "windows-1251": ["x-cp1251"], "windows-1252": ["x-cp1252"],
        "windows-1253": ["x-cp1253"], "windows-1254": ["x-cp1254"], "windows-1255": ["x-cp1255"],
        "windows-1256": ["x-cp1256"], "windows-1257": ["x-cp1257"], "windows-1258": ["x-cp1258"],
        "windows-874": ["dos-874", "tis-620"], "koi8-r": ["koi", "koi8", "koi8_r", "cskoi8r"],
        "ibm866": ["cp866", "866", "csibm866"],
        "shift_jis": ["x-sjis", "windows-31j", "shift-jis", "sjis", "csshiftjis", "ms932", "ms_kanji"],
        "iso-2022-jp": ["csiso2022jp"],
        "gb18030": [
            "gb2312", "gbk", "cp936", "chinese", "csgb2312", "csiso58gb231280", "gb_2312", "gb_2312-80", "iso-ir-58",
            "x-gbk",
        ],
        "big5": ["big5-hkscs", "cn-big5", "csbig5", "x-x-big5"],
        "euc-kr": [
            "ks_c_5601-1987", "ks_c_5601-1989", "ksc_5601", "ksc5601", "korean", "cseuckr", "csksc56011987",
            "iso-ir-149",
            "cp949", "windows-949",
        ],
    ]
}

extension String.Encoding {
    /// The encoding with a number of Core Foundation (`CFStringEncodings`). Core Foundation has no function for it on
    /// Linux.
    fileprivate static func coreFoundation(_ number: UInt) -> String.Encoding {
        String.Encoding(rawValue: coreFoundationFlag | number)
    }

    private static let coreFoundationFlag: UInt = 0x8000_0000

    /// Whether this is a code page: one of Windows, or a Core Foundation encoding outside of ISO 8859 (`0x02…`). Only
    /// ISO 8859 has C1 control characters.
    fileprivate var isCodePage: Bool {
        switch self {
        case .windowsCP1250, .windowsCP1251, .windowsCP1252, .windowsCP1253, .windowsCP1254: true
        default: rawValue & Self.coreFoundationFlag != 0 && rawValue & 0xFF00 != 0x0200
        }
    }

    /// The byte order marks that this encoding allows at the beginning, each with the encoding of the text after it.
    fileprivate var marks: [(bytes: [UInt8], encoding: String.Encoding)] {
        switch self {
        case .utf8: [([0xEF, 0xBB, 0xBF], .utf8)]
        case .utf16: Self.utf16BigEndian.marks + Self.utf16LittleEndian.marks
        case .utf16BigEndian: [([0xFE, 0xFF], self)]
        case .utf16LittleEndian: [([0xFF, 0xFE], self)]
        case .utf32: Self.utf32BigEndian.marks + Self.utf32LittleEndian.marks
        case .utf32BigEndian: [([0, 0, 0xFE, 0xFF], self)]
        case .utf32LittleEndian: [([0xFF, 0xFE, 0, 0], self)]
        default: []
        }
    }

    fileprivate var withoutMark: String.Encoding {
        switch self {
        case .utf16: .utf16BigEndian
        case .utf32: .utf32BigEndian
        default: self
        }
    }

    fileprivate var unitSize: Int {
        switch self {
        case .utf16, .utf16BigEndian, .utf16LittleEndian: 2
        case .utf32, .utf32BigEndian, .utf32LittleEndian: 4
        default: 1
        }
    }
}

extension Unicode.Scalar {
    /// Whether Foundation gives this scalar for a byte that a code page leaves undefined. It is a C1 control character,
    /// or one of Apple's private use characters.
    fileprivate var standsForUndefinedByte: Bool {
        (0x80...0x9F).contains(value) || (0xF8C0...0xF8FF).contains(value)
    }
}
