import Foundation

/// A certificate for 127.0.0.1 that signs itself, made by openssl.
enum Certificate {
    /// Makes both PEM files.
    static func make(certificate: URL, key: URL) throws {
        _ = try Tool.output(
            try Tool.find("openssl", orInstall: "openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key.path,
                "-out", certificate.path,
            ])
        guard FileManager.default.fileExists(atPath: certificate.path) else {
            throw BenchmarkError("openssl made no certificate")
        }
    }
}
