#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct ConnectionLineTests {
        private var line = ConnectionLine()
        private let driver = CurlDriver(CurlTransport.Configuration())

        /// A transfer that libcurl has, and has done nothing for.
        private func waiting(_ host: String) throws -> CurlTransfer {
            let request = try CurlRequest(URLRequest(url: try #require(URL(string: "http://\(host)/"))))
            let transfer = CurlTransfer(
                driver: driver, easy: driver.handles.take(), request: request, limits: .init(TransferLimits()),
                upload: nil, wantsProgress: false, submitted: 0)
            transfer.place = .active(0)
            return transfer
        }

        private mutating func tried() -> [ObjectIdentifier] {
            line.takeFirst().map(ObjectIdentifier.init)
        }

        @Test mutating func `The first to an origin that has room is tried, and stays the first until it goes`() throws
        {
            let (first, second, other) = (try waiting("a.example"), try waiting("a.example"), try waiting("b.example"))
            for transfer in [first, second, other] { line.append(transfer) }
            line.hasRoom(besides: second)
            #expect(tried() == [ObjectIdentifier(first)])
            line.hasRoom(besides: first)
            #expect(tried() == [ObjectIdentifier(first)])
            first.phase = .head
            line.hasRoom(besides: first)
            #expect(tried() == [ObjectIdentifier(second)])
        }

        @Test mutating func `Nothing is tried until something has room`() throws {
            for host in ["a.example", "b.example"] { line.append(try waiting(host)) }
            #expect(tried().isEmpty)
            line.hasRoom(besides: try waiting("c.example"))
            #expect(tried().isEmpty)
        }

        @Test mutating func `Where all wait for one origin, libcurl is left alone`() throws {
            let (first, second) = (try waiting("a.example"), try waiting("A.example:80"))
            for transfer in [first, second] { line.append(transfer) }
            line.hasRoom(besides: first)
            #expect(tried().isEmpty)
        }

        @Test mutating func `An origin for which none waits any more is forgotten`() throws {
            let (first, other) = (try waiting("a.example"), try waiting("b.example"))
            for transfer in [first, other] { line.append(transfer) }
            first.place = .nowhere
            line.hasRoom(besides: first)
            #expect(tried().isEmpty)
            // One origin is left.
            line.hasRoom(besides: other)
            #expect(tried().isEmpty)
        }
    }
#endif
