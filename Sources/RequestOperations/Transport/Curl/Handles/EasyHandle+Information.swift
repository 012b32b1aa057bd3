#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What libcurl tells about the transfer that a handle serves.
    extension EasyHandle {
        /// How many bytes of the request's body were sent so far.
        var sent: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) }

        /// How many bytes of the response's body have come so far, before decompression.
        var received: Int64 { offset(CURLINFO_SIZE_DOWNLOAD_T) }

        /// The length of the body that the head declares, or -1.
        var contentLength: Int64 { offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

        /// The last `errno` of the attempts to connect.
        var systemError: Int { number(CURLINFO_OS_ERRNO) }

        /// Why a transfer failed with `CURLE_PROXY`.
        var proxyError: Int { number(CURLINFO_PROXY_ERROR) }

        /// The address of the other side; `nil` before there is one.
        var remoteAddress: String? {
            guard let address = rocurl_string_info(pointer, CURLINFO_PRIMARY_IP), address.pointee != 0 else {
                return nil
            }
            return String(cString: address)
        }

        func number(_ info: CURLINFO) -> Int { rocurl_long_info(pointer, info) }

        func offset(_ info: CURLINFO) -> Int64 { rocurl_offset_info(pointer, info) }
    }
#endif
