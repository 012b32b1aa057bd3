#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The directions in which a transfer is paused, in the form that `curl_easy_pause` expects.
    struct PausedDirections: OptionSet {
        let rawValue: Int32

        /// The consumer of the response has enough for now.
        static let receiving = Self(rawValue: CURLPAUSE_RECV)
        /// The source of the request's body has nothing for now.
        static let sending = Self(rawValue: CURLPAUSE_SEND)
    }
#endif
