/// The name of one body in the output directory.
struct OutputName: Sendable, Hashable {
    /// The name that its URL makes.
    let base: FileName
    /// Which of the bodies with that name it is, from 1.
    let number: Int

    /// The name of the file.
    var text: String { base.variant(number) }
}

/// The names that a run has given to bodies, in the order of the input. A pure value.
struct OutputNames {
    /// The hashes of the names: those of a million texts take 16 MB.
    private var given: Set<Int> = []
    /// The number that comes next, by the hash of a base that was given before.
    private var next: [Int: Int] = [:]

    /// Gives the first name of a base that was not given before.
    mutating func give(_ base: FileName) -> OutputName {
        var name = OutputName(base: base, number: next[base.hashValue] ?? 1)
        while !given.insert(name.text.hashValue).inserted { name = OutputName(base: base, number: name.number + 1) }
        if name.number > 1 { next[base.hashValue] = name.number + 1 }
        return name
    }
}
