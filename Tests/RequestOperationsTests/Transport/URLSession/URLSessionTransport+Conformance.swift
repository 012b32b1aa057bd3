import RequestOperations
import RequestOperationsTesting

extension TransportUnderTest {
    /// The transport over URLSession, with a session of its own for each check: libcurl keeps four connections for each
    /// transfer of a session, so that many checks at the same time would push out each other's.
    static let session = TransportUnderTest(
        name: "URLSessionTransport",
        lacking: lacksOfURLSession.merging(lacksOfFoundation) { _, reason in reason },
        ofLibrary: lacksOfLibraryUnderURLSession, fatal: fatalLacksOfFoundation, unreliable: [.closingInFlow],
        mayForgetTransfers: foundationForgetsTransfers, make: { _ in URLSessionTransport() })

    /// What URLSession does not tell, or cannot be told, on any platform.
    private static let lacksOfURLSession: [TransportCapability: String] = [
        .protocolVersion: "`HTTPURLResponse` does not tell it.",
        .repeatedFields: "`HTTPURLResponse` keeps its fields in a dictionary.",
        .fieldOrder: "`HTTPURLResponse` keeps its fields in a dictionary.",
        .backPressure: "A session task cannot be paused; what its consumer does not take in time waits in a file.",
        .bodyOfGET: "URLSession refuses it.",
        .chunkedUploads: "A stream is read to its end before it is sent, and is sent with its length.",
        .inputStreamUploads: "A stream is read to its end before it is sent, and is sent with its length.",
        .uploadBackPressure: "A stream is read to its end before it is sent.",
        .unreadRejections: "A connection whose message has ended is URLSession's to keep.",
        .connectLimit: "URLSession does not tell when it is connected; the idle limit runs from the start.",
        .closingInFlow: "URLSession reads ahead of its delegate, and closes the connection when that has caught up.",
        .replayReports: "URLSession does not tell.",
        .connectionTimings: "URLSession's metrics are not used: Linux has none.",
        .wireCounts: "URLSession tells the number of decoded bytes only.",
    ]

    #if canImport(FoundationNetworking)
        /// What Foundation's own URLSession adds, as of Swift 6.3.
        private static let lacksOfFoundation: [TransportCapability: String] = [
            .respelledFields: "Foundation joins fields of the same spelling only, and keeps the rest in no order.",
            .latin1Fields: "Foundation refuses the response.",
            .unspacedFields: "Foundation refuses the response.",
            .reasonlessStatus: "Foundation refuses the response.",
            .bareLineFeeds: "Foundation refuses the response.",
            .dotSegments: "libcurl resolves them, and Foundation does not tell it not to.",
            .trailers: "Foundation takes them for a new head and ends the process (`NativeProtocol.swift:240`).",
            .unknownCodings: "libcurl refuses the response.",
            .truncatedCodings: "libcurl does not tell whether a compressed body had come to its end.",
            .ipv6: "Foundation fails for IPv6 literals.",
            .redirectsToNowhere: "Foundation does not hand on the body.",
        ]
        private static let fatalLacksOfFoundation: Set<TransportCapability> = [.trailers]
        static let foundationForgetsTransfers = true
    #else
        private static let lacksOfFoundation: [TransportCapability: String] = [:]
        private static let fatalLacksOfFoundation: Set<TransportCapability> = []
        static let foundationForgetsTransfers = false
    #endif
}
