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
            case .length(let length, let isCoded):
                easy?.keepConnection(false)
                // We asked for no transfer coding, and libcurl decodes only some of them.
                if isCoded { easy?.deliverUndecoded() }
                framedLength = length
                driver.framedByLength.append(self)
                return true
            case .malformed(let reason):
                stop(.headMalformed(reason))
                return false
            }
        }

        /// The bytes that belong to a body whose length we count ourselves. (A decoded body ends by itself.)
        func cut(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard let framedLength, head.contentEncoding == nil else { return bytes }
            return UnsafeRawBufferPointer(rebasing: bytes.prefix(max(Int(clamping: framedLength - received), 0)))
        }

        /// Whether libcurl has delivered as many bytes as ``framedLength`` says.
        fileprivate var hasFramedLength: Bool {
            guard let framedLength, !paused.contains(.receiving), let easy else { return false }
            return easy.received >= framedLength
        }

        /// What libcurl's result means for a body whose end we find ourselves, since libcurl also accepts less.
        func result(for code: CURLcode) -> CURLcode {
            guard code == CURLE_OK else { return code }
            if framedLength != nil, !hasFramedLength { return CURLE_PARTIAL_FILE }
            return gzip?.isAtEnd == false ? CURLE_PARTIAL_FILE : CURLE_OK
        }
    }

    extension CurlDriver {
        /// Ends the transfers whose bodies are complete while libcurl waits for the end of their connections.
        func endFramed(_ multi: UnsafeMutableRawPointer) {
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
