/// How the name of a property becomes the name of a parameter.
///
/// Only names as declared are converted. Names from `CodingKeys` and the keys of dictionaries stay unchanged.
public struct ParameterNaming: Sendable {
    /// `nil` leaves every name unchanged and costs nothing.
    let convert: (@Sendable (String) -> String)?

    private init(convert: (@Sendable (String) -> String)?) {
        self.convert = convert
    }

    /// The name as it is declared.
    public static let asDeclared = ParameterNaming(convert: nil)

    /// Words in lower case, joined by `_`: `userID` becomes `user_id`. See ``separated(by:)``.
    public static let snakeCase = separated(by: "_")

    /// Words in lower case, joined by a separator.
    ///
    /// A word begins at a capital after a digit or after a letter that is not a capital. If several capitals precede a
    /// small letter, the last capital begins a word. Capitals with a plural `s` are one word. So `userID`, `URLString`,
    /// `userIDs` and `address2Line` become `user_id`, `url_string`, `user_ids` and `address2_line`. Letters of any
    /// script in Unicode count.
    public static func separated(by separator: String) -> ParameterNaming {
        ParameterNaming { name in words(of: name, joinedBy: separator) }
    }

    /// Your own conversion, which is called once for each name that is written.
    public static func custom(_ convert: @escaping @Sendable (_ name: String) -> String) -> ParameterNaming {
        ParameterNaming(convert: convert)
    }

    /// The parameter's name for a declared name.
    public func name(for declared: String) -> String {
        convert?(declared) ?? declared
    }

    private static func words(of name: String, joinedBy separator: String) -> String {
        let characters = Array(name)
        var words = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, beginsWord(at: index, in: characters) { words += separator }
            words += character.lowercased()
        }
        return words
    }

    private static func beginsWord(at index: Int, in characters: [Character]) -> Bool {
        guard index > 0 else { return false }
        let previous = characters[index - 1]
        guard previous.isUppercase else { return previous.isLetter || previous.isNumber }
        guard index + 1 < characters.count, characters[index + 1].isLowercase else { return false }
        let isPlural =
            characters[index + 1] == "s" && (index + 2 == characters.count || !characters[index + 2].isLowercase)
        return !isPlural
    }
}
