extension Mirror {
    /// A mirror without children, for a value whose description says all that may be shown: `dump` shows that line alone.
    ///
    /// Subclasses inherit it, and their own properties are not shown either.
    init<Subject>(opaque subject: Subject) {
        self.init(subject, children: [:], ancestorRepresentation: .suppressed)
    }
}
