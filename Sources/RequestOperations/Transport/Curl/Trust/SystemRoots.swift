#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Where the roots of the system are: in a file, in a folder, in both or in neither.
    ///
    /// Some systems (Debian, Ubuntu) store the roots twice: in a file, and one by one in a folder. Their libcurl looks
    /// in both. Then it reads the whole file for each connection on the thread of the transport, which takes about 50
    /// ms. If it is given only the file, libcurl 7.87 to 8.20 keeps what it has read. (A root that is left out can make a
    /// connection fail. It can never make one trusted.)
    struct SystemRoots: Equatable {
        var file: String?
        var folder: String?

        /// The places that libcurl was built with.
        static let built = SystemRoots(file: CurlLibrary.build.rootFile, folder: CurlLibrary.build.rootFolder)

        /// The places that the environment names; `nil` if there are none.
        private static let named = SystemRoots(in: ProcessInfo.processInfo.environment)

        /// Where libcurl has to look, if not where it does by default; looked for once.
        static let given = named ?? built.fileAlone(isKept: CurlLibrary.keepsRoots && !CurlLibrary.restoresRoots)

        /// The file without the folder, if the file can be read.
        ///
        /// - Parameter isKept: Whether libcurl keeps the file instead of reading it for each connection, if there is no folder.
        func fileAlone(isKept: Bool) -> SystemRoots? {
            guard isKept, let file, access(file, R_OK) == 0 else { return nil }
            return SystemRoots(file: file)
        }
    }

    extension SystemRoots {
        /// The places that an environment names, with the same variables as for curl; `nil` if there are none. An empty
        /// name counts as none.
        init?(in environment: [String: String]) {
            func place(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
            let bundle = place("CURL_CA_BUNDLE")
            self.init(
                file: bundle ?? place("SSL_CERT_FILE"), folder: bundle == nil ? place("SSL_CERT_DIR") : nil)
            if file == nil, folder == nil { return nil }
        }
    }

    extension CurlLibrary {
        /// Whether the library, when told to use no folder or no file of roots, goes back to the one that it was built
        /// with.
        static let restoresRoots = version >= Version(8, 21)

        /// Whether the library keeps the roots that it has read from a file, if it reads them from nowhere else.
        static let keepsRoots = version >= Version(7, 87)
    }

    /// The roots of a policy, as libcurl gets them.
    enum TrustedRoots {
        /// libcurl looks where it does by default.
        case asBuilt
        case places(SystemRoots)
        /// Bytes, and the folder of the system that libcurl reads besides.
        case memory(PEMMemory, folder: String?)
        /// Every server is trusted.
        case unchecked

        /// Makes the roots of a policy. A file that cannot be read, but is named by the policy or the environment, stays a
        /// place: libcurl then says so.
        ///
        /// - Parameters:
        ///   - trust: The policy.
        ///   - system: Where the roots of the system are. Those of this system by default.
        init(_ trust: TrustPolicy, system: @autoclosure () -> SystemRoots = .besideOthers) {
            let added = trust.additionalRoots.map(CertificateFile.pem)
            switch trust.roots {
            case .insecureTrustingEveryServer:
                self = .unchecked
            case .pem(let certificates):
                self.init([CertificateFile.pem(of: certificates)] + added)
            case .file(let file):
                let content = FileManager.default.contents(atPath: file.path)
                let pem = content.map(CertificateFile.pem)
                if let pem, !added.isEmpty || pem != content {
                    self.init([pem] + added)
                } else {
                    self = .places(SystemRoots(file: file.path))
                }
            case .system where added.isEmpty:
                self = SystemRoots.given.map { TrustedRoots.places($0) } ?? .asBuilt
            case .system:
                let places = system()
                let content = places.file.map { FileManager.default.contents(atPath: $0) }
                if case .some(nil) = content {
                    self = .places(places)
                } else {
                    self.init([content ?? nil].compactMap(\.self) + added, folder: places.folder)
                }
            }
        }

        private init(_ parts: [Data], folder: String? = nil) {
            self = .memory(PEMMemory(Data(parts.joined(separator: Data("\n".utf8)))), folder: folder)
        }
    }

    /// Bytes at an address of their own, which libcurl reads without copying them.
    // Unchecked: they are only read once they are made.
    final class PEMMemory: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ data: Data) {
            // libcurl treats NULL as no data set, and from 8.19 on refuses data without bytes. The end of a line is no
            // certificate either.
            let data = data.isEmpty ? Data("\n".utf8) : data
            bytes = .allocate(byteCount: data.count, alignment: 1)
            data.copyBytes(to: bytes)
        }

        deinit {
            bytes.deallocate()
        }
    }

    extension SystemRoots {
        /// Where the roots of this system are if libcurl gets others besides, which take the place of its file.
        static let besideOthers: SystemRoots = {
            let isOpenSSL = CurlLibrary.build.tlsLibrary?.hasPrefix("OpenSSL") ?? false
            return named
                ?? built.besideOthers(canRead: { access($0, R_OK) == 0 }) { folder, file in
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
        ///   - canRead: Whether there is a file or a folder that can be read.
        ///   - isWhole: Whether a folder is enough without a file.
        func besideOthers(
            canRead: (String) -> Bool, isWhole: (_ folder: String, _ file: String) -> Bool
        ) -> SystemRoots {
            var places = SystemRoots(
                file: file.flatMap { canRead($0) ? $0 : nil }, folder: folder.flatMap { canRead($0) ? $0 : nil })
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
