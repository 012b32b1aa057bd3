#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The multi handle of a driver, which has the driver's connections and options.
    extension CurlDriver {
        /// A new multi handle; `nil` if the system has no memory or no descriptor for it. Without a descriptor, libcurl
        /// would make one that cannot be woken.
        static func makeMulti() -> UnsafeMutableRawPointer? {
            guard let multi = curl_multi_init() else { return nil }
            if curl_multi_wakeup(multi) == CURLM_OK { return multi }
            curl_multi_cleanup(multi)
            return nil
        }

        /// Replaces the multi handle, which closes all connections. libcurl must have no transfers then.
        func renewMulti() {
            // Without memory for a new one, the old one stays.
            guard let old = multi, let new = Self.makeMulti() else { return }
            bell.hang(on: new)
            curl_multi_cleanup(old)
            sockets.removeAll()
            multi = new
            givesUpIdle = false
            descriptorBoundEnd = .max
            setUp(new)
        }

        func setUp(_ multi: UnsafeMutableRawPointer) {
            _ = rocurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.keptConnections)
            if let limit = configuration.maximumConnectionsPerHost {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
            }
            if let limit = configuration.maximumConnections {
                _ = rocurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit)
            }
            if CurlLibrary.keepsThreadsForLookups {
                // The same as for each easy handle; see `HandleSettings.apply`.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_quick_exit, 1)
                // Each look-up takes one thread for each family of addresses.
                _ = rocurl_multi_set_long(multi, rocurl_multi_option_lookup_threads, 2 * lookups.bound)
            }
        }
    }
#endif
