#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    // libcurl before 7.87.
    //
    // Removing a handle waits for the thread of its look-up. So the handle of a transfer that ends stays with
    // libcurl until its look-up ends. (From 7.87 on, `CURLOPT_QUICK_EXIT` leaves the thread alone.)

    extension CurlLibrary {
        /// Whether the library removes no handle before its look-up ends.
        static let waitsForLookups = version < Version(7, 87)
    }

    extension CurlDriver {
        /// Leaves the handle of a transfer that ends with libcurl. A handle without a transfer gets no socket, so it ends
        /// after its look-up.
        func leaveLookup(of transfer: CurlTransfer, _ easy: EasyHandle) {
            easy.transfer = nil
            transfer.easy = nil
            easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            lastingLookups[Unmanaged.passUnretained(easy).toOpaque()] = easy
        }
    }
#endif
