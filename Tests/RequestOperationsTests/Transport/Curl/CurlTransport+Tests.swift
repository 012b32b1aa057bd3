#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    extension CurlTransport.Configuration {
        mutating func trustTestServers() {
            trust.roots = .file(SecureServers.shared.file("ca.pem"))
        }
    }

    extension CurlTransport {
        /// A transport of its own with a changed configuration. It speaks HTTP/2 over every version of libcurl.
        static func with(_ change: (inout Configuration) -> Void) -> CurlTransport {
            var configuration = Configuration()
            configuration.proxy = .none
            configuration.httpVersions = .http2
            change(&configuration)
            return CurlTransport(configuration: configuration)
        }

        /// A transport that trusts the roots of the test servers.
        static func trusting(_ change: (inout Configuration) -> Void = { _ in }) -> CurlTransport {
            .with {
                $0.trustTestServers()
                change(&$0)
            }
        }

        func get(_ url: URL, fields: [String: String] = [:]) async throws -> TransportResponse {
            var request = URLRequest(url: url)
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return try await perform(.data(request)) { _ in }
        }

        func text(_ url: URL, fields: [String: String] = [:]) async throws -> String {
            String(decoding: try await get(url, fields: fields).body, as: UTF8.self)
        }

        /// Posts zeros from a stream, in pieces of 64 KiB.
        func upload(_ byteCount: Int, to url: URL, length: Int64?) async throws -> TransportResponse {
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            let piece = Data(count: 64 << 10)
            let stream = BodyStream(length: length) {
                let left = Locked(byteCount / piece.count)
                return BodyStream.Reader {
                    left.withLock { left in
                        left -= 1
                        return left >= 0 ? piece : nil
                    }
                }
            }
            return try await perform(.upload(request, from: .stream(stream))) { _ in }
        }

        /// What a failed request shows of the table of errors.
        func row(_ task: TransportTask) async -> Row {
            guard let failure = await failure(of: task) else { return Row() }
            let error = failure.error as? RequestError
            return Row(
                code: error?.code, phase: failure.phase, isSurelyNotSent: !failure.requestMayHaveBeenProcessed,
                hasHead: failure.head != nil, number: (error?.underlying as? CurlError)?.code,
                bytes: failure.timings?.bytesReceived ?? 0)
        }

        func row(_ url: URL) async -> Row {
            await row(.data(URLRequest(url: url)))
        }
    }

    /// What the caller of a transport sees of a failure.
    struct Row: Equatable {
        var code: RequestError.Code?
        var phase: TransferFailure.Phase?
        var isSurelyNotSent = false
        var hasHead = false
        /// libcurl's number, if it failed and not the transport.
        var number: Int?
        /// How many bytes of the body had been seen.
        var bytes: Int64 = 0

        static func unsent(_ code: RequestError.Code, _ number: Int? = nil) -> Row {
            Row(code: code, phase: .connect, isSurelyNotSent: true, number: number)
        }

        static func sent(
            _ code: RequestError.Code, _ phase: TransferFailure.Phase, _ number: Int? = nil, bytes: Int64 = 0
        ) -> Row {
            Row(code: code, phase: phase, hasHead: phase == .body, number: number, bytes: bytes)
        }

        /// The same without libcurl's number, of which its versions have one each for the ends of HTTP/2.
        var unnumbered: Row {
            var row = self
            row.number = nil
            return row
        }

        /// Whether it is that of libcurl 7 where that runs. With version 8 it may be another, as it came to be in the course of
        /// that version.
        func isRow(_ ofVersion7: Row, orSinceVersion8 ofVersion8: Row) -> Bool {
            self == ofVersion7 || Libcurl.isVersion(from: (8, 0)) && self == ofVersion8
        }
    }
#endif
