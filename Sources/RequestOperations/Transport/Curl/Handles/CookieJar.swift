#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Cookies that all easy handles of one trust policy share.
    // Unchecked: libcurl locks the jar.
    final class CookieJar: @unchecked Sendable {
        private let share: UnsafeMutableRawPointer
        private let file: String?

        /// `nil` if cookies are ignored.
        init?(_ cookies: CurlTransport.Cookies) {
            switch cookies {
            case .none: return nil
            case .inMemory: file = nil
            case .file(let url): file = url.path
            }
            // As everywhere in Swift, a lack of memory ends the process.
            share = rocurl_cookies_create()!
            if let file {
                withHandle { easy in
                    _ = rocurl_set_pointer(easy, CURLOPT_COOKIEFILE, file)
                    _ = rocurl_set_pointer(easy, CURLOPT_COOKIELIST, "RELOAD")
                }
            }
        }

        deinit {
            rocurl_cookies_destroy(share)
        }

        func apply(to easy: UnsafeMutableRawPointer) {
            rocurl_set_cookies(easy, share)
            // This names no file, but libcurl does not use the jar without this option.
            _ = rocurl_set_pointer(easy, CURLOPT_COOKIEFILE, "")
        }

        /// Writes the cookies to the file of the configuration, if it names one.
        func save() {
            guard let file else { return }
            withHandle { easy in
                _ = rocurl_set_pointer(easy, CURLOPT_COOKIEJAR, file)
                _ = rocurl_set_pointer(easy, CURLOPT_COOKIELIST, "FLUSH")
            }
        }

        private func withHandle(_ body: (UnsafeMutableRawPointer) -> Void) {
            guard let easy = curl_easy_init() else { return }
            rocurl_set_cookies(easy, share)
            body(easy)
            curl_easy_cleanup(easy)
        }
    }

    /// A list of strings in libcurl's form. It must be freed with `curl_slist_free_all`.
    typealias CurlList = UnsafeMutablePointer<curl_slist>

    extension CurlList? {
        /// A list with copies of the lines; `nil` if there are none.
        init(_ lines: [String]) {
            self = nil
            for line in lines { append(line) }
        }

        /// Adds a copy of a line.
        mutating func append(_ line: String) {
            // As everywhere in Swift, a lack of memory ends the process.
            self = curl_slist_append(self, line)!
        }
    }
#endif
