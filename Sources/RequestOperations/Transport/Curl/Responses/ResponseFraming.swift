#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Where the body of a response ends, by the fields of its head (RFC 9112, section 6.3).
    ///
    /// libcurl reads the beginning of a `Content-Length` that is a number, and the last of several fields. We check
    /// that what it takes for a length really is one. Otherwise a response would end in the wrong place, and the next
    /// one would begin there.
    struct ResponseFraming {
        enum Verdict: Equatable {
            /// libcurl reads the body correctly, and the connection can be used again.
            case usual
            /// libcurl reads the body correctly. Another reader might not, so the connection serves no other request.
            case last
            /// The body has this length, and the connection serves no other request. libcurl may wait for the
            /// connection's end.
            case length(Int64)
            /// The body ends with the connection, and libcurl decodes it or fails. The length does not count, unless the
            /// coded bytes show their own end.
            case coded(Int64)
            /// The end of the body cannot be known. The text says why.
            case malformed(String)
        }

        /// The value of `Content-Length`; `nil` without one.
        private(set) var length: Int64?
        /// The names in `Transfer-Encoding`, in order and in lower case; `nil` without the field.
        private(set) var codings: [String]?
        private var fault: String?
        private var lengthFault: String?
        private var isInFramingField = false

        /// Reads a line of the head, except the status line and the empty line.
        mutating func add(_ line: UnsafeRawBufferPointer) {
            guard let first = line.first else { return }
            if first.isSpaceOrTab {
                // A continuation (RFC 9112, section 5.2), which libcurl does not join with the line before.
                if isInFramingField, !Self.trimmed(line[...]).isEmpty {
                    fault = "a field that frames the body is continued on another line"
                }
                return
            }
            isInFramingField = false
            switch first | 0x20 {
            case UInt8(ascii: "c"):
                if let value = value(in: line, of: "content-length") { addLength(value) }
            case UInt8(ascii: "t"):
                if let value = value(in: line, of: "transfer-encoding") { addCodings(value) }
            default:
                break
            }
        }

        /// Decides how the body of a complete head ends.
        ///
        /// - Parameters:
        ///   - status: The status, at least 200.
        ///   - version: The version of HTTP, if it is known.
        ///   - isForHead: Whether the request was a HEAD.
        func verdict(status: Int, version: HTTPVersion?, isForHead: Bool) -> Verdict {
            // There is no body, regardless of the fields.
            if isForHead || status == 204 || status == 304 { return .usual }
            if let fault { return .malformed(fault) }
            guard let codings else { return lengthFault.map { Verdict.malformed($0) } ?? .usual }
            // HTTP/2 and later have no transfer codings, and libcurl refuses them there.
            if let version, version.major >= 2 { return .usual }
            let chunks = codings.drop { $0 != "chunked" }
            guard chunks.allSatisfy({ $0 == "chunked" }), !codings.contains(where: Self.isChunkedWithParameters) else {
                return .malformed("Transfer-Encoding does not end with chunked, or gives it parameters")
            }
            if !chunks.isEmpty {
                // Chunked coding overrides a length (RFC 9112, section 6.3), and is not for HTTP/1.0 (section 6.1). If
                // the field names it several times, it counts once, as for curl and browsers. Another reader might read
                // it differently.
                let isPlain = length == nil && lengthFault == nil && version != .http1_0 && chunks.count == 1
                return isPlain ? .usual : .last
            }
            if let lengthFault { return .malformed(lengthFault) }
            guard let length else { return .last }
            return isCoded ? .coded(length) : .length(length)
        }

        /// Whether `Transfer-Encoding` names a coding that changes the bytes, so that they are decoded.
        var isCoded: Bool { codings?.contains { $0 != "identity" && $0 != "chunked" } ?? false }

        /// The value of a field that frames the body, if the line has it.
        private mutating func value(
            in line: UnsafeRawBufferPointer, of name: StaticString
        ) -> Slice<UnsafeRawBufferPointer>? {
            guard line.begins(with: name) else { return nil }
            let rest = line[name.utf8CodeUnitCount...]
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            guard colon == rest.startIndex else {
                // RFC 9112, section 5.1. libcurl would not see the field.
                if Self.trimmed(rest[..<colon]).isEmpty {
                    fault = "there is a blank after the name of a field that frames the body"
                }
                return nil
            }
            isInFramingField = true
            let value = Self.trimmed(rest[(colon + 1)...])
            // libcurl treats some of these characters as blanks.
            if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                fault = "a field that frames the body has a control character"
            }
            return value
        }

        /// Reads one number, or a list of equal numbers, which count as one (RFC 9110, section 8.6).
        private mutating func addLength(_ value: Slice<UnsafeRawBufferPointer>) {
            if length == nil, let number = Self.number(value) {
                length = number
                return
            }
            var hasNumber = false
            for element in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let digits = Self.trimmed(element)
                if digits.isEmpty { continue }
                guard let number = Self.number(digits) else {
                    lengthFault = "Content-Length is no number"
                    return
                }
                guard length == nil || length == number else {
                    lengthFault = "Content-Length has two values"
                    return
                }
                length = number
                hasNumber = true
            }
            if !hasNumber { lengthFault = "Content-Length is no number" }
        }

        private mutating func addCodings(_ value: Slice<UnsafeRawBufferPointer>) {
            let names = value.split(separator: UInt8(ascii: ",")).map {
                String(decoding: Self.trimmed($0), as: UTF8.self).lowercased()
            }
            codings = (codings ?? []) + names.filter { !$0.isEmpty }
        }

        private static func isChunkedWithParameters(_ coding: String) -> Bool {
            guard let end = coding.firstIndex(of: ";") else { return false }
            return coding[..<end].trimmingCharacters(in: .whitespaces) == "chunked"
        }

        /// The number; `nil` unless all bytes are digits, or if it is more than libcurl can count.
        private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
            guard !digits.isEmpty else { return nil }
            var number: Int64 = 0
            for digit in digits {
                guard (0x30...0x39).contains(digit) else { return nil }
                let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                let (sum, overflows) = tens.addingReportingOverflow(Int64(digit - 0x30))
                guard !isTooLarge, !overflows else { return nil }
                number = sum
            }
            return number
        }

        /// Removes blanks on both sides, and the end of the line.
        private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
            var bytes = bytes
            while let last = bytes.last, last.isSpaceOrTab || last == 0x0D || last == 0x0A { bytes.removeLast() }
            while let first = bytes.first, first.isSpaceOrTab { bytes.removeFirst() }
            return bytes
        }
    }

    /// Where the body of a transfer ends, on the driver thread.
    extension CurlTransfer {
        /// Checks the fields of a complete head that frame its body. Returning `false` ends the transfer and its
        /// connection.
        func takesFraming() -> Bool {
            switch head.framing.verdict(status: head.status, version: head.version, isForHead: isForHead) {
            case .usual:
                return true
            case .last:
                easy?.keepConnection(false)
                return true
            case .length(let length):
                easy?.keepConnection(false)
                frame(by: length)
                return true
            case .coded(let length):
                easy?.keepConnection(false)
                if decodesTransferCoding() { frame(by: length) }
                return true
            case .malformed(let reason):
                stop(.failed(.malformedResponse, reason))
                return false
            }
        }

        private func frame(by length: Int64) {
            framedLength = length
            driver.framedByLength.append(self)
        }

        /// The bytes that belong to a body whose length we count ourselves. (A decoded body ends by itself.)
        func cut(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard let framedLength, !head.isCoded else { return bytes }
            return UnsafeRawBufferPointer(rebasing: bytes.prefix(max(Int(clamping: framedLength - received), 0)))
        }

        /// Whether libcurl has delivered as many bytes as ``framedLength`` says. With a transfer coding, its end must have
        /// come, too.
        fileprivate var hasFramedLength: Bool {
            guard let framedLength, !paused.contains(.receiving), let easy else { return false }
            return easy.received >= framedLength && (!head.framing.isCoded || gzip?.isAtEnd == true)
        }

        /// What libcurl's result means for a body whose end we find ourselves, since libcurl also accepts less.
        func result(for code: CURLcode) -> CURLcode {
            guard code == CURLE_OK else { return code }
            // A transfer coding overrides the length (RFC 9112, section 6.3).
            if framedLength != nil, !head.framing.isCoded, !hasFramedLength { return CURLE_PARTIAL_FILE }
            return gzip?.isAtEnd == false ? CURLE_PARTIAL_FILE : CURLE_OK
        }
    }

    extension CurlDriver {
        /// Ends the transfers whose bodies are complete while libcurl waits for the end of their connections.
        func endFramed(_ multi: UnsafeMutableRawPointer) {
            guard !framedByLength.isEmpty else { return }
            for transfer in framedByLength where transfer.isActive && transfer.hasFramedLength {
                guard let easy = transfer.easy else { continue }
                curl_multi_remove_handle(multi, easy.pointer)
                if transfer.phase != .body { transfer.publishHead() }
                end(transfer, .finished(transfer.result(for: CURLE_OK)))
            }
            framedByLength.removeAll { !$0.isActive }
        }
    }
#endif
