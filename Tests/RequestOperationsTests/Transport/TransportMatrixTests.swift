import Foundation
import RequestOperationsTesting
import Testing

/// The page of the documentation that says what each transport can do.
@Suite(.timeLimit(.minutes(10))) struct TransportMatrixTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/RequestOperations/RequestOperations.docc/TransportMatrix.md")

    private static let text = """
        # What each transport can do

        Every expectation of the conformance suite, by capability, and how each transport stands to it on Linux.

        Each line is a capability, with the number of expectations that the tests check over real connections. “No” is
        declared with its reason, and checked as well, unless it fails but now and then: a transport that can do what it is
        said to lack fails the tests. Some versions and builds of libcurl lack more than is listed: from 8.5 on an
        unknown content coding is refused, and from 8.8 to 8.20 the mark of an empty query is not sent over URLSession, nor
        over CurlTransport with cookies, a proxy or credentials in the URL.

        Run the suite over a transport of your own with `TransportConformance.run(_:lacking:expectations:)` of
        `RequestOperationsTesting`.


        """ + TransportMatrix(TransportUnderTest.all.map { .init($0.name, lacking: $0.published) }).markdown

    /// Set `REQUEST_OPERATIONS_WRITE_MATRIX` to write the page anew before it is compared.
    @Test(.enabled(if: !TransportUnderTest.curl.isEmpty, "The page is that of a system with libcurl."))
    func `The published matrix is what the transports declare`() throws {
        if ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_WRITE_MATRIX"] != nil {
            try Data(Self.text.utf8).write(to: Self.page)
        }
        #expect(try String(contentsOf: Self.page, encoding: .utf8) == Self.text)
    }
}
