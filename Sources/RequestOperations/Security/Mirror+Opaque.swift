extension Mirror {
    /// A mirror without children, for a value whose description shows all that may be shown.
    ///
    /// `dump` then shows only that description. Subclasses inherit the mirror, so their properties are not shown
    /// either.
    package init<Subject>(opaque subject: Subject) {
        self.init(subject, children: [:], ancestorRepresentation: .suppressed)
    }
}
