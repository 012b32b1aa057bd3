#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

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
                stop(.headMalformed(reason))
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
