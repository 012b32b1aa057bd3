#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl 7.83 to 8.0 (curl issues 11101 and 11620).
    //
    // It may write to freed memory when an HTTP/1 head begins with a folded line: it appends the line to the last field of
    // the previous response, which it frees when the handle is given to it again. So a handle serves one transfer, and is
    // not given to libcurl again once a field has come.

    extension CurlLibrary {
        /// Whether the library may write to a field that it has freed.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)
    }

    extension EasyHandle {
        /// Whether libcurl must not begin anew with the handle. (A field may exist that no callback has reported. For
        /// example, the first field of HTTP/2 exists before its head is complete.)
        var cannotBeginAnew: Bool { CurlLibrary.remembersFreedFields && rocurl_stores_fields(pointer) }

        /// Whether libcurl has got a field. Before 7.83 it does not tell.
        var hasUntoldField: Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 83) && rocurl_stores_fields(pointer)
        }
    }
#endif
