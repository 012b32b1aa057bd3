#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct LookupsTests {
        private let driver = CurlDriver(CurlTransport.with { _ in }.configuration)

        private func lines(_ count: Int) throws -> [OriginLine] {
            try (0..<count).map { OriginLine(of: try CurlTransfer.to("\($0).example", over: driver), mayShare: false) }
        }

        @Test func `As many look-ups begin as the bound says, and the next ones when some end`() throws {
            var lookups = Lookups(bound: 2)
            let lines = try lines(2)
            for _ in 1...2 { lookups.begin() }
            for line in lines + lines { lookups.wait(line) }
            let none = lookups.next(at: 0)
            #expect(!lookups.hasRoom && none == nil && lookups.deadline == .max)
            lookups.end()
            #expect(lookups.deadline == 0)
            let next = [lookups.next(at: 0), lookups.next(at: 0), lookups.next(at: 0)]
            #expect(next[0] === lines[0] && next[1] === lines[1] && next[2] == nil)
        }

        @Test func `A look-up of a transfer that has ended counts for a while`() throws {
            var lookups = Lookups(bound: 1)
            let lines = try lines(1)
            lookups.begin()
            lookups.abandon(at: 0)
            lookups.end()
            lookups.wait(lines[0])
            let none = lookups.next(at: 1)
            #expect(none == nil && lookups.deadline < .max)
            let later = lookups.next(at: lookups.deadline)
            #expect(later === lines[0])
        }
    }
#endif
