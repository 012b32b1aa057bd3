public import Foundation

extension LoopbackServer {
    /// A request that arrived. A handler gets it, and the server's log holds it.
    public struct Request: Sendable {
        /// The method as sent, for instance `GET`.
        public let method: String
        /// The request target as sent, with its query and percent-encoding. For a proxy request it is the whole URL.
        public let target: String
        /// The header fields in the order and spelling in which they arrived.
        public let fields: Fields
        /// The whole body, without its transfer coding. It is empty if it was longer than the server keeps (1 MiB by
        /// default; see `start`). `bodyByteCount` and `bodyChecksum` are right for every body.
        public let body: Data
        /// The number of body bytes that arrived, without their transfer coding.
        public let bodyByteCount: Int
        /// The checksum of the body bytes that arrived. See `LoopbackServer.Checksum`.
        public let bodyChecksum: UInt64
        /// Whether the whole body arrived. True for a request without a body.
        ///
        /// False if the connection ended too early, if the chunks were malformed, or if the response leaves the body
        /// unread.
        public let isBodyComplete: Bool
        /// The fields that followed a chunked body.
        public let trailers: Fields
        /// The connection that the request came on: the `id` of one of the server's `connections`.
        public let connection: Int
        /// The instant at which the last byte of the head arrived.
        public let instant: ContinuousClock.Instant

        /// The path of the target, without scheme, authority and query. Percent-encoded as sent.
        public var path: String {
            String(pathAndQuery.prefix { $0 != "?" })
        }

        /// The query of the target as sent, without the question mark; nil if there is none.
        public var query: String? {
            guard let mark = pathAndQuery.firstIndex(of: "?") else { return nil }
            return String(pathAndQuery[pathAndQuery.index(after: mark)...])
        }

        /// The value of the first header field of this name; nil if there is none. Case does not count.
        public func field(_ name: String) -> String? {
            fields[name]
        }

        private var pathAndQuery: Substring {
            RequestHead.pathAndQuery(of: target)
        }
    }
}
