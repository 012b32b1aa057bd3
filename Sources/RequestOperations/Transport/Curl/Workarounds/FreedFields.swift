#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl 7.83 to 8.0 (curl issues 11101 and 11620).
    //
    // It may write to freed memory when an HTTP/1 head begins with a folded line: it appends the line to the last field of
    // the previous response, which it frees when the handle is given to it again. With `CURLOPT_HEADER` it gives each line to
    // the write function before it stores it, and an error there comes first. So the write function refuses such a line.

    extension CurlLibrary {
        /// Whether the library may write to a field that it has freed.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)
    }

    extension EasyHandle {
        /// Whether libcurl has got a field. Before 7.83 it does not tell.
        var hasUntoldField: Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 83) && rocurl_stores_fields(pointer)
        }
    }

    extension CurlTransfer {
        /// Takes a line of the head that libcurl is about to store. Returns `nil` if the bytes are of the body.
        func mayStore(_ line: UnsafeRawBufferPointer) -> Receipt? {
            guard CurlLibrary.remembersFreedFields, !head.isComplete, let start = line.baseAddress, !line.isEmpty else {
                return nil
            }
            // A line of more than 16 KiB comes in pieces.
            if let guardedEnd {
                guard start == guardedEnd else {
                    stop(.headMalformed("a body came before the end of the head"))
                    return .stopped
                }
            } else if !head.hasField, line[0].isSpaceOrTab {
                stop(.headMalformed(HeadReader.foldedStart))
                return .stopped
            }
            guardedEnd = start + line.count
            return .taken
        }
    }
#endif
