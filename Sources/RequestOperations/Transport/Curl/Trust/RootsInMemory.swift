#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Roots that libcurl gets as bytes, and the folder of the system that it reads besides.
    struct RootsInMemory {
        let pem: Data
        let folder: String?

        /// Makes the roots of a policy. `nil` if libcurl reads them from where they are, and if a file cannot be read: libcurl
        /// then says so.
        init?(_ trust: TrustPolicy) {
            let added = trust.additionalRoots.map(CertificateFile.pem)
            switch trust.roots {
            case .insecureTrustingEveryServer:
                return nil
            case .pem(let certificates):
                self.init([CertificateFile.pem(of: certificates)] + added)
            case .file(let file):
                guard let content = FileManager.default.contents(atPath: file.path) else { return nil }
                let pem = CertificateFile.pem(of: content)
                guard !added.isEmpty || pem != content else { return nil }
                self.init([pem] + added)
            case .system:
                guard !added.isEmpty else { return nil }
                let place = SystemRoots.placeBesideOthers
                guard let file = place.file else {
                    self.init(added, folder: place.folder)
                    return
                }
                guard let content = FileManager.default.contents(atPath: file) else { return nil }
                self.init([content] + added, folder: place.folder)
            }
        }

        private init(_ parts: [Data], folder: String? = nil) {
            pem = Data(parts.joined(separator: Data("\n".utf8)))
            self.folder = folder
        }
    }

    extension SystemRoots {
        /// Where the roots of the system are if libcurl gets others besides, which take the place of its file.
        ///
        /// A folder that has all of them is enough. OpenSSL then reads just what it needs, and not the whole file for each
        /// connection.
        fileprivate static let placeBesideOthers: (file: String?, folder: String?) = {
            if case .named(let file, let folder) = present { return (file, folder) }
            let file = rocurl_root_file().map { String(cString: $0) }
            let folder = rocurl_root_folder().map { String(cString: $0) }
            guard let file, let folder else { return (file, folder) }
            let isOpenSSL = rocurl_tls_library().map { String(cString: $0).hasPrefix("OpenSSL") } ?? false
            let isWhole = isOpenSSL && count(inFolder: folder) >= count(inFile: file)
            return (isWhole ? nil : file, folder)
        }()

        private static func count(inFile path: String) -> Int {
            CertificateFile.certificates(in: FileManager.default.contents(atPath: path) ?? Data()).count
        }

        /// The number of certificates that OpenSSL finds in a folder. Each has a name that is made from its subject, such as
        /// `4042bcee.0`.
        private static func count(inFolder path: String) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.count { $0.utf8.count == 10 && $0.hasSuffix(".0") && $0.prefix(8).allSatisfy(\.isHexDigit) }
        }
    }
#endif
