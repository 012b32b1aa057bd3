extension AsynchronousOperation: CustomReflectable {
    /// No children, because an operation holds its request, its configuration and its value.
    public final var customMirror: Mirror { Mirror(opaque: self) }
}
