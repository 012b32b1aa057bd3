#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl before 8.5.
    //
    // It fails at the second of several gzip members that follow one another (RFC 1952, section 2.2). So we decode gzip
    // ourselves. Later versions fail as well, and offer no way to avoid that.

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
                    stop(.failed(.undecodableContent, "the body is not compressed as Content-Encoding says"))
                    return .stopped
                }
            }
        }
    }

    /// Decodes a gzip body, piece by piece.
    ///
    /// Members that follow one another are one body (RFC 1952, section 2.2), but libcurl fails at the second one. Bytes
    /// after the last member that do not begin another one are ignored, as other programs do.
    // Used only on the driver thread.
    final class GzipDecoder {
        enum Step {
            /// A piece of the body. The same piece is returned again until ``takePiece()``.
            case piece(UnsafeRawBufferPointer)
            /// All input was taken.
            case needsInput
            case broken
        }

        private enum Place {
            /// In a member that may have no bytes yet.
            case member(hasBegun: Bool)
            /// After a member, with this many bytes matched of what may be the next one.
            case between(matched: Int)
            /// After the last member.
            case trailer
        }

        /// How every member begins: the gzip mark and the deflate method.
        private static let beginning: [UInt8] = [0x1F, 0x8B, 0x08]
        /// The same size as libcurl's pieces.
        private static let pieceSize = 16 << 10

        private let stream: UnsafeMutableRawPointer
        private let output: UnsafeMutableRawBufferPointer
        private var made = 0
        private var place = Place.member(hasBegun: false)
        /// How many bytes were taken of input that was not taken completely and will be given again.
        private var taken = 0

        /// - Returns: `nil` where zlib is missing.
        init?() {
            guard let stream = rocurl_inflate_create() else { return nil }
            self.stream = stream
            output = .allocate(byteCount: Self.pieceSize, alignment: 1)
        }

        deinit {
            rocurl_inflate_destroy(stream)
            output.deallocate()
        }

        /// Whether the body may end here.
        var isAtEnd: Bool {
            switch place {
            case .member(let hasBegun): !hasBegun
            case .between, .trailer: made == 0
            }
        }

        /// Continues with input. Input that is given again after a piece begins with the same bytes, and may have more.
        func next(_ input: UnsafeRawBufferPointer) -> Step {
            while true {
                if made > 0 { return .piece(UnsafeRawBufferPointer(rebasing: output[..<made])) }
                let rest = UnsafeRawBufferPointer(rebasing: input[min(taken, input.count)...])
                switch place {
                case .member:
                    guard let isGoing = inflate(rest) else { return .broken }
                    if made == 0, !isGoing {
                        taken = 0
                        return .needsInput
                    }
                case .between(let matched):
                    guard let byte = rest.first else {
                        taken = 0
                        return .needsInput
                    }
                    guard byte == Self.beginning[matched] else {
                        place = .trailer
                        continue
                    }
                    taken += 1
                    place = .between(matched: matched + 1)
                    if matched + 1 == Self.beginning.count, !beginMember() { return .broken }
                case .trailer:
                    taken = 0
                    return .needsInput
                }
            }
        }

        /// The last piece has been delivered.
        func takePiece() {
            made = 0
        }

        /// Whether there may be more to do with the same input; `nil` if the input is broken.
        private func inflate(_ input: UnsafeRawBufferPointer) -> Bool? {
            if !input.isEmpty { place = .member(hasBegun: true) }
            var (inputCount, outputCount) = (input.count, output.count)
            let code = rocurl_inflate(stream, input.baseAddress, &inputCount, output.baseAddress, &outputCount)
            taken += inputCount
            made = outputCount
            guard code == 1 || code == 0 && (input.isEmpty || inputCount + outputCount > 0) else { return nil }
            if code == 1 { place = .between(matched: 0) }
            return code == 1 || inputCount > 0 && inputCount < input.count
        }

        /// Begins a member whose first bytes were already taken; those bytes may be gone.
        private func beginMember() -> Bool {
            guard rocurl_inflate_next_member(stream) else { return false }
            place = .member(hasBegun: true)
            return Self.beginning.withUnsafeBytes { bytes in
                var (inputCount, outputCount) = (bytes.count, output.count)
                return rocurl_inflate(stream, bytes.baseAddress, &inputCount, output.baseAddress, &outputCount) == 0
            }
        }
    }
#endif
