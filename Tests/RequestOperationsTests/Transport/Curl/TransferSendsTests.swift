#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct TransferSendsTests {
        private var sends = TransferSends()

        private mutating func send(wasRefused: Bool) {
            sends.begin()
            sends.judge(wasRefused: wasRefused)
        }

        @Test mutating func `A safe request may be sent once more, and no other`() {
            send(wasRefused: false)
            #expect(sends.allowAnother(isSafe: true) && !sends.allowAnother(isSafe: false))
            send(wasRefused: false)
            #expect(!sends.allowAnother(isSafe: true) && sends.mayHaveBeenProcessed)
        }

        @Test mutating func `A refused time counts for nothing, up to the fifth`() {
            for _ in 1...4 {
                send(wasRefused: true)
                #expect(sends.allowAnother(isSafe: false) && !sends.mayHaveBeenProcessed)
            }
            send(wasRefused: true)
            #expect(!sends.allowAnother(isSafe: true) && !sends.mayHaveBeenProcessed)
        }

        @Test mutating func `What was refused once and lost once may have been processed`() {
            for isLostFirst in [true, false] {
                sends = TransferSends()
                send(wasRefused: !isLostFirst)
                send(wasRefused: isLostFirst)
                #expect(sends.mayHaveBeenProcessed)
                #expect(sends.allowAnother(isSafe: true) && !sends.allowAnother(isSafe: false))
            }
        }

        @Test mutating func `Each time is judged once, and what was not judged may have been processed`() {
            sends.begin()
            #expect(sends.mayHaveBeenProcessed)
            sends.judge(wasRefused: true)
            sends.judge(wasRefused: false)
            sends.judge(wasRefused: true)
            #expect(sends.count == 1 && sends.refusedCount == 1 && !sends.mayHaveBeenProcessed)
        }
    }
#endif
