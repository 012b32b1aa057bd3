#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

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
            guard let longer = curl_slist_append(self, line) else {
                // As everywhere in Swift, a lack of memory ends the process.
                preconditionFailure("There is no memory for a line.")
            }
            self = longer
        }
    }
#endif
