#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The scheme and authority of URLs, parsed by libcurl.
    // Unchecked: only the side that uses its easy handle uses it.
    final class CurlOrigin: @unchecked Sendable {
        /// Both parts, as they are written in the URLs.
        let text: String
        /// The value for `CURLOPT_CURLU`. It must live as long as the easy handle may use it.
        let pointer: OpaquePointer

        /// - Parameters:
        ///   - text: A URL.
        ///   - length: How many bytes of it come before the path.
        /// - Returns: `nil` if libcurl does not understand them.
        init?(_ text: String, upTo length: Int) {
            let text = String(decoding: text.utf8.prefix(length), as: UTF8.self)
            guard let pointer = curl_url() else {
                // As everywhere in Swift, a lack of memory ends the process.
                preconditionFailure("There is no memory for a URL.")
            }
            guard curl_url_set(pointer, CURLUPART_URL, text, 0) == CURLUE_OK else {
                curl_url_cleanup(pointer)
                return nil
            }
            self.text = text
            self.pointer = pointer
        }

        deinit {
            curl_url_cleanup(pointer)
        }

        /// Whether a URL begins with this origin, if the URL's own origin has the given length.
        func isIn(_ url: String, upTo length: Int) -> Bool {
            guard text.utf8.count == length else { return false }
            return text.withCString { origin in url.withCString { memcmp(origin, $0, length) == 0 } }
        }
    }
#endif
