#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl before 8.5.
    //
    // It fails at the second of several gzip members that follow one another (RFC 1952, section 2.2). So we decode gzip
    // ourselves. Later versions fail as well, and leave no way to do so.

    extension CurlLibrary {
        /// Whether the library asks for each piece of a body whether to decode it. So we can refuse that after we know
        /// the head. Later versions decide at the line with the coding.
        static let asksLateWhetherToDecode = version < Version(8, 5)
    }

    extension CurlTransfer {
        /// Decodes the body in this package where that is possible and libcurl would do it wrong.
        func beginDecoding(_ coding: String) {
            // After 417, the next response may come with the same handle. Turning decoding off also turns it off for
            // transfer codings.
            guard CurlLibrary.asksLateWhetherToDecode, head.status != 417,
                head.framing.codings?.allSatisfy({ $0 == "chunked" || $0 == "identity" }) ?? true,
                ["gzip", "x-gzip"].contains(coding.lowercased()), let easy, let decoder = GzipDecoder()
            else { return }
            easy.deliverUndecoded()
            gzip = decoder
        }

        /// Decodes a body whose only coding is the transfer coding gzip in this package, if it can. So its end is known
        /// before the connection ends. Otherwise libcurl decodes it.
        func decodesTransferCoding() -> Bool {
            guard CurlLibrary.asksLateWhetherToDecode, head.status != 417, head.contentEncoding == nil,
                let codings = head.framing.codings?.filter({ $0 != "identity" }), codings.count == 1,
                ["gzip", "x-gzip"].contains(codings[0]), let easy, let decoder = GzipDecoder()
            else { return false }
            easy.deliverUndecoded()
            gzip = decoder
            return true
        }

        /// Takes bytes of the body as they arrived.
        func receive(content bytes: UnsafeRawBufferPointer) -> Receipt {
            if let receipt = mayStore(bytes) { return receipt }
            let bytes = framedLength == nil ? bytes : cut(bytes)
            guard let gzip else { return receive(body: bytes) }
            while true {
                switch gzip.next(bytes) {
                case .piece(let piece):
                    switch receive(body: piece) {
                    case .taken: gzip.takePiece()
                    case .paused: return .paused
                    case .stopped: return .stopped
                    }
                case .needsInput:
                    return .taken
                case .broken:
                    stop(.contentBroken("the body is not compressed as Content-Encoding says"))
                    return .stopped
                }
            }
        }
    }
#endif
