#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Where the TLS library is to look for the roots of the system.
    ///
    /// Some systems (Debian, Ubuntu) have them twice, in a file and one by one in a folder, and their libcurl is built to look
    /// in both. It reads the whole file for each connection then, on the thread of the transport: some 50 ms. Told of the file
    /// alone, it keeps what it has read, in the versions 7.87 to 8.20; told of the folder alone, OpenSSL reads what it needs.
    enum SystemRoots: Equatable {
        /// Where libcurl looks by itself.
        case asBuilt
        case fileAlone
        case folderAlone
        /// In places that the environment names, at least one.
        case named(file: String?, folder: String?)

        /// Those of this system; looked for once.
        static let present: SystemRoots = {
            if let named = SystemRoots(in: ProcessInfo.processInfo.environment) { return named }
            guard let file = rocurl_root_file().map({ String(cString: $0) }),
                let folder = rocurl_root_folder().map({ String(cString: $0) })
            else { return .asBuilt }
            return SystemRoots(
                countInFile: count(inFile: file), countInFolder: count(inFolder: folder),
                keepsFile: CurlLibrary.keepsRoots && !CurlLibrary.restoresRoots,
                findsByName: rocurl_tls_library().map { String(cString: $0).hasPrefix("OpenSSL") } ?? false)
        }()

        /// The places that an environment names, as it does for curl; `nil` for none. An empty name is none.
        init?(in environment: [String: String]) {
            func place(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
            if let bundle = place("CURL_CA_BUNDLE") {
                self = .named(file: bundle, folder: nil)
                return
            }
            let (file, folder) = (place("SSL_CERT_FILE"), place("SSL_CERT_DIR"))
            guard file != nil || folder != nil else { return nil }
            self = .named(file: file, folder: folder)
        }

        /// One of the two is left out only if it seems to have nothing that the other lacks. (What is left out can make a
        /// connection fail, and never be trusted.)
        ///
        /// - Parameters:
        ///   - keepsFile: Whether the file is not read for each connection if it is all there is.
        ///   - findsByName: Whether of the folder only those certificates are read that are needed.
        init(countInFile: Int, countInFolder: Int, keepsFile: Bool, findsByName: Bool) {
            if keepsFile, countInFile > 0, countInFolder <= countInFile {
                self = .fileAlone
            } else if findsByName, countInFile > 0, countInFolder == countInFile {
                self = .folderAlone
            } else {
                self = .asBuilt
            }
        }

        /// The first certificate of a file, as PEM.
        static func firstCertificate(inFile path: String) -> Data? {
            guard let data = FileManager.default.contents(atPath: path),
                let start = data.range(of: Data("-----BEGIN CERTIFICATE-----".utf8)),
                let end = data.range(of: Data("-----END CERTIFICATE-----\n".utf8), in: start.upperBound..<data.endIndex)
            else { return nil }
            return data[start.lowerBound..<end.upperBound]
        }

        static func count(inFile path: String) -> Int {
            guard let text = FileManager.default.contents(atPath: path) else { return 0 }
            return String(decoding: text, as: UTF8.self).components(separatedBy: "-----BEGIN ").count - 1
        }

        /// The certificates that OpenSSL finds there: each has a name that is made of its subject, such as `4042bcee.0`.
        static func count(inFolder path: String) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.count { name in
                let parts = name.split(separator: ".", omittingEmptySubsequences: false)
                return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit)
                    && Int(parts[1]) != nil
            }
        }
    }
#endif
