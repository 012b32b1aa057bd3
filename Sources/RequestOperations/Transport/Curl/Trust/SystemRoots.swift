#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Where the TLS library has to look for the roots of the system.
    ///
    /// Some systems (Debian, Ubuntu) store the roots twice: in a file, and one by one in a folder. Their libcurl looks
    /// in both. Then it reads the whole file for each connection on the thread of the transport, which takes about 50
    /// ms. If it is given only the file, libcurl 7.87 to 8.20 keeps what it has read. (A root that is left out can make a
    /// connection fail. It can never make one trusted.)
    enum SystemRoots: Equatable {
        /// The places where libcurl looks by default.
        case asBuilt
        case fileAlone
        /// The places that the environment names, at least one.
        case named(file: String?, folder: String?)

        /// Where roots are: in a file, in a folder, in both or in neither.
        struct Places: Equatable {
            var file: String?
            var folder: String?
        }

        /// The places that libcurl was built with.
        static let built = Places(file: CurlLibrary.build.rootFile, folder: CurlLibrary.build.rootFolder)

        /// The roots of this system; looked for once.
        static let present =
            SystemRoots(in: ProcessInfo.processInfo.environment)
            ?? SystemRoots(
                file: built.file,
                keepsFile: CurlLibrary.keepsRoots && !CurlLibrary.restoresRoots)

        /// - Parameters:
        ///   - file: The file of roots that libcurl was built with.
        ///   - keepsFile: Whether libcurl keeps the file instead of reading it for each connection, if there is no
        ///     folder.
        init(file: String?, keepsFile: Bool) {
            guard keepsFile, let file, access(file, R_OK) == 0 else {
                self = .asBuilt
                return
            }
            self = .fileAlone
        }

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
    }

    extension CurlLibrary {
        /// Whether the library, when told to use no folder or no file of roots, goes back to the one that it was built
        /// with.
        static let restoresRoots = version >= Version(8, 21)

        /// Whether the library keeps the roots that it has read from a file, if it reads them from nowhere else.
        static let keepsRoots = version >= Version(7, 87)
    }

    /// Roots that libcurl gets as bytes, and the folder of the system that it reads besides.
    struct RootsInMemory {
        let pem: Data
        let folder: String?

        /// Makes the roots of a policy. `nil` if libcurl reads them from where they are, and if a file cannot be read that the
        /// policy or the environment names: libcurl then says so.
        ///
        /// - Parameters:
        ///   - trust: The policy.
        ///   - system: Where the roots of the system are. Those of this system by default.
        init?(_ trust: TrustPolicy, system: @autoclosure () -> SystemRoots.Places = SystemRoots.placesBesideOthers) {
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
                let places = system()
                guard let file = places.file else {
                    self.init(added, folder: places.folder)
                    return
                }
                guard let content = FileManager.default.contents(atPath: file) else { return nil }
                self.init([content] + added, folder: places.folder)
            }
        }

        private init(_ parts: [Data], folder: String? = nil) {
            pem = Data(parts.joined(separator: Data("\n".utf8)))
            self.folder = folder
        }
    }

    extension SystemRoots {
        /// Where the roots of this system are if libcurl gets others besides, which take the place of its file.
        static let placesBesideOthers: Places = {
            let isOpenSSL = CurlLibrary.build.tlsLibrary?.hasPrefix("OpenSSL") ?? false
            return present.placesBesideOthers(built, canRead: { access($0, R_OK) == 0 }) { folder, file in
                isOpenSSL && count(inFolder: folder) >= count(inFile: file)
            }
        }()

        /// Where roots are if libcurl gets others besides.
        ///
        /// A folder that has all of them is enough. OpenSSL then reads just what it needs, and not the whole file for each
        /// connection. A place that the environment names stays, even if it cannot be read: that is an error. One that libcurl
        /// was built with does not count then, as on a system without roots.
        ///
        /// - Parameters:
        ///   - built: The places that libcurl was built with.
        ///   - canRead: Whether there is a file or a folder that can be read.
        ///   - isWhole: Whether a folder is enough without a file.
        func placesBesideOthers(
            _ built: Places, canRead: (String) -> Bool, isWhole: (_ folder: String, _ file: String) -> Bool
        ) -> Places {
            if case .named(let file, let folder) = self { return Places(file: file, folder: folder) }
            var places = built
            if let file = built.file, !canRead(file) { places.file = nil }
            if let folder = built.folder, !canRead(folder) { places.folder = nil }
            if let file = places.file, let folder = places.folder, isWhole(folder, file) { places.file = nil }
            return places
        }

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
