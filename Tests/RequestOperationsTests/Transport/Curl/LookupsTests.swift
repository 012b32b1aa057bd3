#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct LookupsTests {
        private let driver = CurlDriver(CurlTransport.with { _ in }.configuration)

        private func transfers(_ count: Int) throws -> [CurlTransfer] {
            try (0..<count).map { number in
                let transfer = try CurlTransfer.to("\(number).example", over: driver)
                transfer.index = number
                return transfer
            }
        }

        @Test func `As many look-ups begin as the bound says, and the next ones when some end`() throws {
            var lookups = Lookups(bound: 2)
            let transfers = try transfers(4)
            let begun = transfers.map { _ in lookups.begin(at: 0) }
            #expect(begun == [true, true, false, false])
            for transfer in transfers[2...] { lookups.wait(transfer) }
            let none = lookups.takeWaiting(at: 0)
            #expect(none.isEmpty && lookups.deadline == .max)
            lookups.end()
            #expect(lookups.deadline == 0)
            let next = lookups.takeWaiting(at: 0)
            #expect(next.count == 1 && next.first === transfers[2])
        }

        @Test func `A look-up of a transfer that has ended counts for a while`() throws {
            var lookups = Lookups(bound: 1)
            let transfers = try transfers(2)
            let begins = lookups.begin(at: 0)
            lookups.abandon(at: 0)
            lookups.end()
            let beginsBeside = lookups.begin(at: 1)
            #expect(begins && !beginsBeside)
            lookups.wait(transfers[1])
            let none = lookups.takeWaiting(at: 1)
            #expect(none.isEmpty && lookups.deadline < .max)
            let later = lookups.takeWaiting(at: lookups.deadline)
            #expect(later.count == 1)
        }

        @Test func `A transfer that has ended leaves the line`() throws {
            var lookups = Lookups(bound: 1)
            let transfers = try transfers(2)
            for transfer in transfers { lookups.wait(transfer) }
            transfers[0].index = nil
            let next = lookups.takeWaiting(at: 0)
            #expect(next.count == 1 && next.first === transfers[1])
        }
    }
#endif
