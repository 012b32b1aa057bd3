#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Builds the head of a response from the lines that libcurl delivers.
    ///
    /// It leaves out the heads of informational responses. It also leaves out trailers, which come after the head in
    /// the form of head lines.
    struct HeadReader {
        // 101 (Switching Protocols) does not answer any of our requests either.
        static let noStatus = "the head has no status that answers a request"
        static let foldedStart = "the head begins with a line that continues another one"
        static let bodyInHead = "a body came before the end of the head"
        static let tooLarge = "the head has more than \(limit) bytes or \(fieldLimit) fields"

        /// The maximum size in bytes of one head and everything before it. Trailers count as well.
        static let limit = 256 << 10
        /// The most fields of one head and everything before it. 256 KiB have room for 60,000 without a value.
        static let fieldLimit = 1000

        enum Line: Equatable {
            case more
            case complete
            /// The rest cannot be read as HTTP. The text says why.
            case malformed(String)
        }

        private(set) var status = 0
        private(set) var version: HTTPVersion?
        private var block: [UInt8] = []
        /// How many bytes have come, including informational heads and trailers.
        private(set) var size = 0
        private var fieldCount = 0
        private(set) var isComplete = false
        /// The value of `Content-Encoding`, if the head has it. It is recorded while reading, since every head is asked
        /// for it.
        private(set) var contentEncoding: String?
        private(set) var framing = ResponseFraming()

        /// Whether the body is decoded: it has a content coding or a transfer coding that changes its bytes.
        var isCoded: Bool { contentEncoding != nil || framing.isCoded }

        /// Whether a field of the head has come.
        var hasField: Bool { !block.isEmpty }

        /// Whether nothing has come, not even an informational response.
        var isUntouched: Bool { size == 0 }

        /// Whether no line of a head has come, or none after those of informational responses.
        var isAtStart: Bool { status == 0 }

        /// Whether a connection of this version of HTTP takes several requests at a time.
        var takesSeveral: Bool { version.map { $0.major >= 2 } ?? false }

        /// The head, when it is complete.
        func head(for url: URL) -> ResponseHead {
            ResponseHead(status: status, url: url, block: HeaderBlock(block), version: version)
        }

        mutating func add(_ line: UnsafeRawBufferPointer) -> Line {
            size += line.count
            guard size <= Self.limit else { return .malformed(Self.tooLarge) }
            // A trailer.
            guard !isComplete else { return .more }
            if isAtStart {
                readStatusLine(line)
                guard (100...999).contains(status), status != 101 else { return .malformed(Self.noStatus) }
                block.reserveCapacity(512)
            } else if line.first == 0x0D || line.first == 0x0A {
                guard status >= 200 else {
                    startAgain()
                    return .more
                }
                isComplete = true
                return .complete
            } else {
                // RFC 9112, section 2.2: there is no field yet that the line could continue.
                if block.isEmpty, line[0].isSpaceOrTab { return .malformed(Self.foldedStart) }
                fieldCount += 1
                guard fieldCount <= Self.fieldLimit else { return .malformed(Self.tooLarge) }
                block.append(contentsOf: line)
                framing.add(line)
                if line[0] | 0x20 == UInt8(ascii: "c") { noticeContentEncoding(line) }
            }
            return .more
        }

        /// Discards a head that has not been delivered, because the request is sent again.
        mutating func startAgain() {
            status = 0
            block.removeAll(keepingCapacity: true)
            contentEncoding = nil
            framing = ResponseFraming()
            isComplete = false
        }

        private mutating func noticeContentEncoding(_ line: UnsafeRawBufferPointer) {
            guard line.begins(with: "content-encoding:") else { return }
            let value = String(decoding: line["content-encoding:".utf8.count...], as: UTF8.self)
            let trimmed = value.trimmingCharacters(in: .whitespacesAndNewlines)
            contentEncoding = contentEncoding.map { "\($0), \(trimmed)" } ?? trimmed
        }

        /// Reads `HTTP/1.1 200 OK` or `HTTP/2 200`. libcurl has checked that it is a status line.
        private mutating func readStatusLine(_ line: UnsafeRawBufferPointer) {
            func digit(_ index: Int) -> Int? {
                guard index < line.count, (0x30...0x39).contains(line[index]) else { return nil }
                return Int(line[index]) - 0x30
            }
            let major = digit(5)
            version = major.map { HTTPVersion(major: $0, minor: digit(7) ?? 0) }
            if let major, major >= 2 { version = HTTPVersion(major: major, minor: 0) }
            guard var index = line.firstIndex(of: 0x20) else { return }
            // libcurl skips blanks here too.
            while index < line.count, line[index].isSpaceOrTab { index += 1 }
            var number = 0
            while let next = digit(index), number < 1000 {
                number = number * 10 + next
                index += 1
            }
            status = number
        }
    }
#endif
