#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct SocketWatchTests {
        private var watch = SocketWatch(isConnection: true)

        @Test mutating func `A connection stays watched for input from one request to the next`() {
            watch.want(.input)
            watch.want([])
            #expect(watch.watched == .input)
            watch.want(.input)
            #expect(watch.watched == .input)
        }

        @Test mutating func `What happens to a connection that nobody uses is told once`() {
            watch.want(.input)
            watch.want([])
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.watched.isEmpty)
        }

        @Test mutating func `After that it is watched again for the next request`() {
            watch.want(.input)
            watch.want([])
            _ = watch.whatToTell(of: .input)
            watch.want(.input)
            let told = watch.whatToTell(of: .input)
            #expect(told == .input && watch.watched == .input)
        }

        @Test mutating func `A connection that is left is idle until it is wanted again, and watched meanwhile`() {
            watch.want(.input)
            #expect(!watch.isIdle)
            watch.leaveIdle()
            #expect(watch.isIdle && watch.watched == .input)
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.isIdle)
            watch.want(.input)
            #expect(!watch.isIdle)
        }

        @Test mutating func `An event from before the connection became idle leaves it watched`() {
            watch.want(.input)
            watch.leaveIdle()
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.watched == .input)
        }

        @Test mutating func `Input of an idle connection is reported once`() {
            watch.want(.input)
            watch.leaveIdle()
            watch.noticeInputWhileIdle()
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.watched.isEmpty && watch.isIdle)
        }

        @Test mutating func `A connection is watched when it is idle, though nobody ever waited for input`() {
            watch.want(.output)
            watch.leaveIdle()
            #expect(watch.isIdle && watch.watched == .input)
        }

        @Test mutating func `Output is watched only while it is wanted, since it is possible nearly always`() {
            watch.want(.output)
            #expect(watch.watched == .output)
            watch.want([.input, .output])
            watch.want(.input)
            #expect(watch.watched == .input)
            watch.want(.output)
            watch.want([])
            #expect(watch.watched == .input)
        }

        @Test mutating func `Input that comes while only output is wanted is told once`() {
            watch.want(.input)
            watch.want(.output)
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.watched == .output)
        }

        @Test(arguments: [SocketWatch.Interest.input, .output])
        mutating func `An end concerns whoever wants anything`(interest: SocketWatch.Interest) {
            watch.want(interest)
            let told = watch.whatToTell(of: [.input, .output])
            #expect(told == [.input, .output])
        }

        @Test mutating func `Of withheld input libcurl hears nothing, and the kernel is not asked for it again`() {
            watch.want(.input)
            watch.setInput(isWithheld: true)
            let told = watch.whatToTell(of: .input)
            #expect(told.isEmpty && watch.watched.isEmpty)
        }

        @Test mutating func `An end is output alone where input is withheld, and nothing where no output is wanted`() {
            watch.want([.input, .output])
            watch.setInput(isWithheld: true)
            let first = watch.whatToTell(of: [.input, .output])
            watch.want(.input)
            let second = watch.whatToTell(of: [.input, .output])
            #expect(first == .output && second.isEmpty && watch.watched.isEmpty)
        }

        @Test mutating func `Input that was withheld is watched for and told when it is no longer`() {
            watch.want(.input)
            watch.setInput(isWithheld: true)
            _ = watch.whatToTell(of: .input)
            watch.setInput(isWithheld: false)
            let told = watch.whatToTell(of: .input)
            #expect(told == .input && watch.watched == .input)
        }

        @Test mutating func `Output of which libcurl made nothing is not watched for, but told with any input`() {
            watch.want([.input, .output], mayRest: true)
            let rests = watch.restOutput()
            #expect(rests && watch.watched == .input)
            for _ in 1...2 {
                let told = watch.whatToTell(of: .input)
                #expect(told == [.input, .output] && watch.watched == .input)
            }
            let restsAgain = watch.restOutput()
            #expect(!restsAgain)
        }

        @Test mutating func `It is watched for again when libcurl wants something else, or it is tried`() {
            for tries in [false, true] {
                watch.want([.input, .output], mayRest: true)
                _ = watch.restOutput()
                if tries { watch.tryOutput() } else { watch.want(.output) }
                #expect(watch.watched.contains(.output))
            }
        }

        @Test mutating func `Output rests only where it may and is wanted`() {
            watch.want([.input, .output])
            let first = watch.restOutput()
            watch.want(.input, mayRest: true)
            let second = watch.restOutput()
            #expect(!first && !second)
        }

        @Test mutating func `Where input is withheld and output rests, nothing is watched for and an end is told of`() {
            watch.want([.input, .output], mayRest: true)
            watch.setInput(isWithheld: true)
            _ = watch.restOutput()
            #expect(watch.watched.isEmpty)
            let told = watch.whatToTell(of: [.input, .output])
            #expect(told == .output)
        }

        @Test mutating func `What was withheld for one transfer is told for the next`() {
            watch.want(.input)
            watch.setInput(isWithheld: true)
            watch.want([])
            watch.want(.input)
            let told = watch.whatToTell(of: .input)
            #expect(told == .input)
        }

        @Test func `A descriptor of which nobody says when it is closed is not watched between uses`() {
            var watch = SocketWatch()
            watch.want(.input)
            watch.want([])
            #expect(watch.watched.isEmpty)
        }
    }
#endif
