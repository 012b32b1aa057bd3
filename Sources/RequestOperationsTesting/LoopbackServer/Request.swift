public import Foundation

extension LoopbackServer {
    /// A request that arrived: what a handler is given and what the server's log holds.
    public struct Request: Sendable {
        /// The method as sent, for instance `GET`.
        public let method: String
        /// The request target as sent, with the query, percent-encoding and, for a proxy request, the whole URL.
        public let target: String
        /// The header fields in the order and spelling in which they arrived.
        public let fields: Fields
        /// The whole body, free of its transfer coding; empty if it was longer than the server keeps (1 MiB unless
        /// `start` was told otherwise). `bodyByteCount` and `bodyChecksum` hold for every body.
        public let body: Data
        /// The number of body bytes that arrived, free of their transfer coding.
        public let bodyByteCount: Int
        /// The checksum of the body bytes that arrived; see `LoopbackServer.Checksum`.
        public let bodyChecksum: UInt64
        /// Whether the body arrived to its end. False if the connection ended before, if its chunks were malformed, or if
        /// the response was one that leaves the body unread. True for a request without a body.
        public let isBodyComplete: Bool
        /// The fields that followed a chunked body.
        public let trailers: Fields
        /// The connection that it came on: the `id` of one of the server's `connections`.
        public let connection: Int
        /// The instant at which the last byte of its head was there.
        public let instant: ContinuousClock.Instant

        /// The path of the target: without scheme and authority, and up to the query; percent-encoded as sent.
        public var path: String {
            String(pathAndQuery.prefix { $0 != "?" })
        }

        /// The query of the target as sent, without the question mark; nil if there is none.
        public var query: String? {
            guard let mark = pathAndQuery.firstIndex(of: "?") else { return nil }
            return String(pathAndQuery[pathAndQuery.index(after: mark)...])
        }

        /// The value of the first header field of this name, in any spelling; nil if there is none.
        public func field(_ name: String) -> String? {
            fields[name]
        }

        private var pathAndQuery: Substring {
            RequestHead.pathAndQuery(of: target)
        }
    }
}
