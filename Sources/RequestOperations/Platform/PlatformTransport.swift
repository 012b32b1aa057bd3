/// The transport of a configuration that names none.
public enum PlatformTransport {
    /// ``URLSessionTransport/shared``.
    public static var shared: any Transport { URLSessionTransport.shared }
}
