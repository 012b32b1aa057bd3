/// The name of one body in the output directory.
struct OutputName: Sendable, Hashable {
    /// The name that its URL gives.
    let base: FileName
    /// The number of the body among those with the same base, from 1.
    let number: Int

    /// The name of the file.
    var text: String { base.variant(number) }
}

/// The names that a run has given to bodies, in the order of the input. A pure value.
struct OutputNames {
    /// The hashes of the names. A million names need 16 MB.
    private var given: Set<Int> = []
    /// The next number for each base that was given before, by the hash of the base.
    private var next: [Int: Int] = [:]

    /// Returns the first name of a base that was not given before.
    mutating func give(_ base: FileName) -> OutputName {
        var name = OutputName(base: base, number: next[base.hashValue] ?? 1)
        while !given.insert(name.text.hashValue).inserted { name = OutputName(base: base, number: name.number + 1) }
        if name.number > 1 { next[base.hashValue] = name.number + 1 }
        return name
    }
}
