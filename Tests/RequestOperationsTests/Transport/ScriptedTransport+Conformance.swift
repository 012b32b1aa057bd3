import RequestOperationsTesting

extension TransportUnderTest {
    /// The scripted transport, its script what the server would answer.
    static let scripted = TransportUnderTest(
        name: "ScriptedTransport", lacking: lacksOfScripts, make: { ScriptedTransport.answering(for: $0) })

    private static let lacksOfScripts = Dictionary(
        uniqueKeysWithValues: [
            ("It sends nothing.", nothingIsSent), ("It makes no connection.", noConnection),
            ("A script says what is delivered, not how it came over the wire.", noWire),
            ("It keeps no time; use a configuration's clock with `ManualClock`.", noTime),
            ("A script's body is there at once and whole.", noFlow),
        ].flatMap { reason, capabilities in capabilities.map { ($0, reason) } })

    private static let nothingIsSent: [TransportCapability] = [
        .requestHeads, .requestChecks, .uploads, .fileUploads, .sizedStreamUploads, .chunkedUploads,
        .inputStreamUploads,
        .bodyOfGET, .expectContinue, .sourceErrors, .earlyAnswers, .uploadBackPressure, .uploadProgress,
        .sourceCancellation,
    ]

    private static let noConnection: [TransportCapability] = [
        .keptConnections, .parallelTransfers, .deadConnections, .replays, .replayReports, .unsafeReplays, .freshReplays,
        .ipv6, .connectErrors, .lostConnections, .closingInFlow,
    ]

    private static let noWire: [TransportCapability] = [
        .informationalHeads, .protocolVersion, .foldedFields, .latin1Fields, .unspacedFields, .reasonlessStatus,
        .bareLineFeeds, .closeDelimitedBodies, .gzip, .deflate, .brotli, .zstd, .brokenCodings,
        .truncatedCodings, .decodedSizeLimits, .decodedErrorBodies, .decodedProgress, .excessBytes, .truncatedBodies,
        .malformedHeads, .brokenOffHeads, .endlessHeads,
    ]

    private static let noTime: [TransportCapability] = [
        .timeLimits, .uploadTimeLimits, .connectLimit, .slowRejections, .timings, .connectionTimings, .wireCounts,
    ]

    private static let noFlow: [TransportCapability] = [
        .promptPieces, .boundedMemory, .fileRemoval, .unreadRejections, .cancellationInTransit,
    ]
}
