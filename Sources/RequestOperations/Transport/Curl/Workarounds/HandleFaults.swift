#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // What versions of libcurl do wrong with a handle, or with what one sends and receives.

    // 7.83 to 8.0 may write to freed memory when an HTTP/1 head begins with a folded line (curl issues 11101 and 11620): they
    // append the line to the last field of the previous response, which they free when the handle is used again. With
    // `CURLOPT_HEADER` they give each line to the write function before they store it, and an error there comes first. So the
    // write function refuses such a line.

    extension CurlLibrary {
        /// Whether the library may write to a field that it has freed.
        static let remembersFreedFields = version >= Version(7, 83) && version < Version(8, 1)
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

    extension EasyHandle {
        /// Whether libcurl has got a field. Before 7.83 it does not tell.
        var hasUntoldField: Bool {
            CurlLibrary.version >= CurlLibrary.Version(7, 83) && rocurl_stores_fields(pointer)
        }
    }

    // 8.7 to 8.12 remember how much of a head was unsent when a request ended, and count that many bytes of the handle's next
    // body as a head. So such a handle serves no other transfer.

    extension CurlTransfer {
        /// Whether its request may have ended before all of its head was sent. A server may answer with an error before
        /// that.
        var mayHaveUnsentHead: Bool {
            CurlLibrary.version >= CurlLibrary.Version(8, 7) && CurlLibrary.version < CurlLibrary.Version(8, 13)
                && (!head.isComplete || head.status >= 400)
        }
    }

    extension CurlLibrary {
        /// Before 8.20, a handle that sent a request's own `Host` field uses that host for the cookies of all later requests,
        /// even after a reset. So it serves no other transfer, if the transport keeps cookies.
        static let keepsCookieHosts = version < Version(8, 20)

        /// From 8.8 to 8.20, the `?` of an empty query is left out. So the target of such a request is set besides its URL,
        /// unless a proxy needs all of it.
        static let losesEmptyQueries = version >= Version(8, 8) && version < Version(8, 21)

        /// From 8.16 on, a private key that cannot be used is a bad argument. That has other causes too, so the message tells.
        static func tellsUnusableKey(_ message: String) -> Bool { message.hasPrefix("unable to set private key") }
    }
#endif
