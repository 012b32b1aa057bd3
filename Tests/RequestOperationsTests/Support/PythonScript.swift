import Foundation

/// A program in the folder `Python` of this target. The text at its beginning says what it does.
enum PythonScript: String {
    case freePorts = "free_ports"
    case http1 = "peer_http1"
    case http2 = "peer_http2"
    case kinds = "peer_kinds"
    case readDisposition = "read_disposition"
    case readMultipart = "read_multipart"
    case readPairs = "read_pairs"
    case slowReceiver = "peer_slow_receiver"
    case writePairs = "write_pairs"

    /// Where its file lies.
    var path: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Python/\(rawValue).py").path
    }
}
