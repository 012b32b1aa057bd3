#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl 8.16 to 8.20.
    //
    // For half a minute it remembers that a name could not be resolved, whatever the reason, and leaves no way to forget
    // that. It would do so also where there was no place for a look-up, so the number of look-ups has no bound there.

    extension CurlLibrary {
        /// Whether the library remembers look-ups that failed only for now.
        static let remembersFailures = version >= Version(8, 16) && version < Version(8, 21)
    }
#endif
