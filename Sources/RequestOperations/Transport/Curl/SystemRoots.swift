#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Where the TLS library has to look for the roots of the system.
    ///
    /// Some systems (Debian, Ubuntu) store the roots twice: in a file, and one by one in a folder. Their libcurl looks
    /// in both. Then it reads the whole file for each connection on the thread of the transport, which takes about 50
    /// ms. If it is given only the file, libcurl 7.87 to 8.20 keeps what it has read. If it is given only the folder,
    /// OpenSSL reads just what it needs.
    enum SystemRoots: Equatable {
        /// The places where libcurl looks by default.
        case asBuilt
        case fileAlone
        case folderAlone
        /// The places that the environment names, at least one.
        case named(file: String?, folder: String?)

        /// The roots of this system; looked for once.
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

        /// The places that an environment names, with the same variables as for curl; `nil` if there are none. An empty
        /// name counts as none.
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

        /// Leaves out the file or the folder only if it seems to have nothing that the other lacks. (A root that is
        /// left out can make a connection fail. It can never make one trusted.)
        /// - Parameters:
        ///   - keepsFile: Whether libcurl keeps the file instead of reading it for each connection, if there is no
        ///     folder.
        ///   - findsByName: Whether only the needed certificates of the folder are read.
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

        /// The number of certificates that OpenSSL finds in a folder. Each has a name that is made from its subject,
        /// such as `4042bcee.0`.
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
