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
            let isWanted = watch.isWanted(.input)
            #expect(!isWanted && watch.watched.isEmpty)
        }

        @Test mutating func `After that it is watched again for the next request`() {
            watch.want(.input)
            watch.want([])
            _ = watch.isWanted(.input)
            watch.want(.input)
            let isWanted = watch.isWanted(.input)
            #expect(isWanted && watch.watched == .input)
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
            let isWanted = watch.isWanted(.input)
            #expect(!isWanted && watch.watched == .output)
        }

        @Test(arguments: [SocketWatch.Interest.input, .output])
        mutating func `An end concerns whoever wants anything`(interest: SocketWatch.Interest) {
            watch.want(interest)
            let isWanted = watch.isWanted([.input, .output])
            #expect(isWanted)
        }

        @Test func `A descriptor of which nobody says when it is closed is not watched between uses`() {
            var watch = SocketWatch()
            watch.want(.input)
            watch.want([])
            #expect(watch.watched.isEmpty)
        }
    }
#endif
