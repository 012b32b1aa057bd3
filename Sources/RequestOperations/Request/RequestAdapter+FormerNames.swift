extension RequestAdapter {
    /// The former name of ``field(_:_:)``.
    @available(*, deprecated, renamed: "field(_:_:)")
    public static func header(_ name: String, _ value: String) -> RequestAdapter { .field(name, value) }

    /// The former name of ``defaultField(_:_:)``.
    @available(*, deprecated, renamed: "defaultField(_:_:)")
    public static func defaultHeader(_ name: String, _ value: String) -> RequestAdapter { .defaultField(name, value) }
}
