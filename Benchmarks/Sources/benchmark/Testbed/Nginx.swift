import CLimit
import Foundation

/// An nginx of our own on the loopback interface: plain, with TLS, and with HTTP/2; one worker process, which is its
/// default.
final class Nginx {
    /// How many requests a second are answered of those that begin with `slow/`.
    static let slowRate = 2000

    /// One of the ways to reach it.
    enum Scheme: String, Codable, CaseIterable {
        case plain = "HTTP/1.1"
        case tls = "TLS"
        case http2 = "HTTP/2"
    }

    /// The PEM file of its certificate.
    let authority: URL
    /// The folder of what it serves.
    let pages: URL
    /// The bodies of its pages.
    let small: BodyExpectation
    let medium: BodyExpectation
    let json: BodyExpectation

    /// The port of the server to which `/faulty/` is passed on over TLS and HTTP/2.
    let faultyPort: Int

    private let ports: [Scheme: Int]
    private let process = Process()

    /// Makes its pages, its certificate and its configuration in a folder, and starts it.
    ///
    /// - Throws: A ``BenchmarkError`` that names the packages to install if it or openssl is missing.
    init(in folder: URL, largeFileSize: Int) throws {
        pages = folder.appendingPathComponent("pages", isDirectory: true)
        try FileManager.default.createDirectory(at: pages, withIntermediateDirectories: true)
        authority = folder.appendingPathComponent("certificate.pem")
        let key = folder.appendingPathComponent("key.pem")
        try Certificate.make(certificate: authority, key: key)
        small = try Self.writePage(.pattern(1 << 10), "1k", in: pages)
        medium = try Self.writePage(.pattern(100 << 10), "100k", in: pages)
        json = try Self.writePage(Record.encodedAll(), "json", in: pages)
        try Self.writeLargePage(largeFileSize, in: pages)
        let free = try FreePorts.find(Scheme.allCases.count + 1)
        ports = Dictionary(uniqueKeysWithValues: zip(Scheme.allCases, free))
        faultyPort = free[Scheme.allCases.count]
        let configuration = folder.appendingPathComponent("nginx.conf")
        let text = NginxConfiguration(
            folder: folder, pages: pages, certificate: authority, key: key, plainPort: port(.plain),
            tlsPort: port(.tls), http2Port: port(.http2), faultyPort: faultyPort)
        try text.description.write(to: configuration, atomically: true, encoding: .utf8)
        process.executableURL = try Self.executable()
        process.arguments = ["-p", folder.path, "-c", configuration.path, "-e", folder.path + "/error.log"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        try waitUntilItListens(log: folder.appendingPathComponent("error.log"))
    }

    /// Ends it, by its own process identifier.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// The URL of a page, without a query.
    func url(_ page: String, _ scheme: Scheme = .plain) -> String {
        "\(scheme == .plain ? "http" : "https")://127.0.0.1:\(port(scheme))/\(page)"
    }

    /// Where it listens.
    func port(_ scheme: Scheme) -> Int {
        // Made for all cases.
        ports[scheme]!
    }

    /// Its version, and whether it can take uploads.
    static func version() throws -> String {
        let text = try Tool.output(try executable(), ["-v"])
        return text.split(separator: " ").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? text
    }

    private static func executable() throws -> URL {
        let nginx = try Tool.find("nginx", orInstall: "nginx-light")
        guard try Tool.output(nginx, ["-V"]).contains("http_dav_module") else {
            throw BenchmarkError("This nginx takes no uploads; install one that does: apt-get install nginx-full")
        }
        return nginx
    }

    // MARK: Pages

    private static func writePage(_ body: Data, _ name: String, in folder: URL) throws -> BodyExpectation {
        try body.write(to: folder.appendingPathComponent(name))
        return BodyExpectation(body)
    }

    private static func writeLargePage(_ size: Int, in folder: URL) throws {
        let url = folder.appendingPathComponent("large")
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        let piece = Data.pattern(1 << 20)
        for _ in 0..<(size >> 20) { try file.write(contentsOf: piece) }
        try file.close()
    }

    // MARK: Beginning

    private func waitUntilItListens(log: URL) throws {
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            if Scheme.allCases.allSatisfy({ FreePorts.isListening(port($0)) }) { return }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw BenchmarkError("nginx did not start: \(text)")
    }
}

extension Data {
    /// Bytes of which the one at each offset is the offset modulo 251, so that a piece lost or out of place shows.
    static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8($0 % 251) })
    }
}
