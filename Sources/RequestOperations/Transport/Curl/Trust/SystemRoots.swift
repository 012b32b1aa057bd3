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
#endif
