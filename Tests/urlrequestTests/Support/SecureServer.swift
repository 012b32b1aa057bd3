import RequestOperationsTesting
import Testing

/// OpenSSL's own server, with certificates made for the occasion.
final class SecureServer: Sendable {
    private struct Failed: Error {
        let text: String
    }

    private let process: ChildProcess
    private let folder: TemporaryPath
    let port: Int

    /// Starts a server on the loopback interface.
    ///
    /// - Parameter demandsCertificate: Whether it ends connections of clients without a certificate that its roots have signed.
    init(demandsCertificate: Bool = false) async throws {
        let folder = try TemporaryPath()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        self.folder = folder
        let directory = URL(fileURLWithPath: folder.path)
        guard try await ChildProcess("/bin/sh", ["-ec", Self.certificates], in: directory).status == 0 else {
            throw Failed(text: "the certificates cannot be made")
        }
        let demand = demandsCertificate ? ["-Verify", "1", "-verify_return_error", "-CAfile", "ca.pem"] : []
        let output = Pipe()
        process = try ChildProcess(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-cert", "good.pem", "-key", "good.key", "-www"] + demand,
            in: directory, output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        let text = await CapturedOutput(of: output.fileHandleForReading).text { captured in
            captured.text.range(of: "ACCEPT .*\n", options: .regularExpression) != nil
        }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }),
            let port = line.split(separator: ":").last.flatMap({ Int($0) })
        else { throw Failed(text: text) }
        self.port = port
    }

    deinit {
        process.send(SIGKILL)
    }

    var url: String { "https://localhost:\(port)/" }

    /// The path of a file of the server: `ca.pem`, `client.pem`, `client.key`, `stranger.pem`.
    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    /// The pin of the server's key.
    var pin: String {
        get throws {
            try String(contentsOfFile: path("pin"), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static let certificates = """
        openssl ecparam -genkey -name prime256v1 -noout -out ca.key
        openssl req -x509 -new -key ca.key -subj "/CN=Test roots" -days 30 -out ca.pem
        sign() {
            openssl ecparam -genkey -name prime256v1 -noout -out $1.key
            openssl req -new -key $1.key -subj "/CN=$1" -out $1.csr
            printf "subjectAltName=DNS:localhost\\n" > $1.ext
            openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile $1.ext -out $1.pem
        }
        sign good
        sign client
        cat client.pem client.key > both.pem
        openssl x509 -in ca.pem -outform DER -out ca.der
        echo secret > passphrase
        openssl pkcs12 -export -inkey client.key -in client.pem -passout file:passphrase -out client.p12
        openssl ecparam -genkey -name prime256v1 -noout -out stranger.key
        openssl req -x509 -new -key stranger.key -subj "/CN=Stranger" -days 30 -out stranger.pem
        openssl pkey -in good.key -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 -A \\
            | sed 's|^|sha256//|' > pin
        """
}
