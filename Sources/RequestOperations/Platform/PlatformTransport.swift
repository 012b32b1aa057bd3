/// The transport of a configuration that does not name one.
public enum PlatformTransport {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// ``CurlTransport/shared`` here, on Linux with glibc; ``URLSessionTransport/shared`` on other systems.
        public static var shared: any Transport { CurlTransport.shared }
    #else
        /// ``URLSessionTransport/shared`` here; `CurlTransport.shared` on Linux with glibc.
        public static var shared: any Transport { URLSessionTransport.shared }
    #endif
}
