#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The multi handle of a driver, which has its connections and its options.
    extension CurlDriver {
        /// Makes a multi handle in place of the one that there is, which closes all connections; nothing is in libcurl's hands.
        func renewMulti() {
            // Without memory the old one goes on.
            guard let old = multi, let new = curl_multi_init() else { return }
            curl_multi_cleanup(old)
            // It has forgotten all names.
            desk = LookupDesk(desk.bounds)
            sockets.forgetConnections()
            multi = new
            givesUpIdle = false
            descriptorBoundEnd = .max
            setUp(new)
        }

        func setUp(_ multi: UnsafeMutableRawPointer) {
            if !settings.sharesConnections {
                _ = rocurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
            }
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.keptConnections)
            if let limit = configuration.maximumConnectionsPerHost {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
            }
            if let limit = configuration.maximumConnections {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit)
            }
            rocurl_set_waiting(
                multi, CurlCallbacks.wait, CurlCallbacks.setTimer, Unmanaged.passUnretained(sockets).toOpaque())
            if CurlLibrary.keepsThreadsForLookups {
                // As for each handle; see `HandleSettings.apply`.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_quick_exit, 1)
                // One for each family of addresses.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_lookup_threads, 2 * desk.bounds.all)
            }
        }
    }
#endif
