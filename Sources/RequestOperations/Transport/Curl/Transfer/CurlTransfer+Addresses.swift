#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Which addresses a transfer may connect to.
    extension CurlTransfer {
        /// Whether the transport's policy allows a connection to an address. Notes one that it does not allow.
        func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
            let policy = driver.configuration.addresses
            guard !policy.allowsAll else { return true }
            let known = IPAddress(address)
            if let known, policy.allows(known) { return true }
            connection.refusedAddress = known?.description ?? "a socket of this machine"
            return false
        }
    }

    extension IPAddress {
        /// The address of a socket address; `nil` if it is of another family.
        fileprivate init?(_ address: UnsafePointer<curl_sockaddr>) {
            // Behind `addr`, libcurl has room for the longest address.
            guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
            let bytes = UnsafeRawBufferPointer(
                start: UnsafeRawPointer(address) + start, count: Int(address.pointee.addrlen))
            switch address.pointee.family {
            case AF_INET: self.init(bytes.dropFirst(MemoryLayout.offset(of: \sockaddr_in.sin_addr)!).prefix(4))
            case AF_INET6: self.init(bytes.dropFirst(MemoryLayout.offset(of: \sockaddr_in6.sin6_addr)!).prefix(16))
            default: return nil
            }
        }
    }
#endif
