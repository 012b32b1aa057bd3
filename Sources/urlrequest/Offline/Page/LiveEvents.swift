#if CommandLineTool
    import FlyingFox
    import FlyingSocks
    import RequestOperations

    /// Server-sent events: the state of the page now, and again after each change, at most once a second.
    struct LiveEvents: AsyncBufferedSequence {
        typealias Element = UInt8

        let page: QueuePage

        func makeAsyncIterator() -> Iterator { Iterator(page: page) }

        struct Iterator: AsyncBufferedIteratorProtocol {
            let page: QueuePage
            private var last: QueuePage.Mark?
            /// The time until the next look. A look takes at most a tenth of the time.
            private var pause = Duration.zero
            private var rest: ArraySlice<UInt8> = []

            init(page: QueuePage) {
                self.page = page
            }

            mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
                var silence = Duration.zero
                while true {
                    try await Task.sleep(for: pause)
                    silence += pause
                    let mark = try await page.mark()
                    pause = .seconds(1)
                    // The rates change with time. This also shows whether the browser is still there.
                    guard mark != last || silence >= .seconds(15) else { continue }
                    let start = ContinuousClock.now
                    let state = try await page.state()
                    pause = Swift.max(pause, start.duration(to: .now) * 10)
                    last = mark
                    return Array("data: ".utf8) + state + Array("\n\n".utf8)
                }
            }

            mutating func next() async throws -> UInt8? {
                if rest.isEmpty { rest = try await nextBuffer(suggested: 1)?[...] ?? [] }
                return rest.popFirst()
            }
        }
    }
#endif
