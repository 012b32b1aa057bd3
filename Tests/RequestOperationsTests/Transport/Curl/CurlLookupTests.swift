#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CLookups
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What libcurl asks the system for, which takes it a thread for each look-up. (Each test has a group of names of its own.)
    @Suite(.timeLimit(.minutes(5)))
    struct CurlLookupTests {
        private static func url(_ name: String, _ server: LoopbackServer) throws -> URL {
            let port = try #require(server.url.port)
            return try #require(URL(string: "http://\(name).lookups.test:\(port)/"))
        }

        @Test func `Requests beyond the bound of look-ups use what the first ones find`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let urls = Array(repeating: try Self.url("name.1", server), count: 60)
            let crowd = try Crowd(urls, lookupBound: 4)
            await eventually { lookups_of(1).current == 4 }
            lookups_answer(1)
            for index in urls.indices { #expect(try await crowd.body(index) == Data("here".utf8)) }
            #expect(lookups_of(1).all == 4)
            await crowd.end()
        }

        @Test func `Of many names no more are looked up at a time than the bound says`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let urls = try (0..<40).map { try Self.url("\($0).2", server) }
            let crowd = try Crowd(urls, lookupBound: 12)
            await eventually { lookups_of(2).current >= 12 }
            // The thread of the transport has its turns, in which it could begin more.
            for _ in 1...5 {
                let other = try crowd.add(server.url)
                _ = try await other.value
            }
            lookups_answer(2)
            for index in urls.indices { #expect(try await crowd.body(index) == Data("here".utf8)) }
            #expect(lookups_of(2).all == 40 && lookups_of(2).most == 12)
            await crowd.end()
        }

        @Test func `A name resolves beside 40 that never do`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            lookups_answer(6)
            let silent = try (0..<40).map { try Self.url("\($0).5", server) }
            let crowd = try Crowd(silent)
            await eventually { lookups_of(5).current == 40 }
            #expect(try await crowd.add(try Self.url("name.6", server)).value.body == Data("here".utf8))
            #expect(lookups_of(5).current == 40)
            lookups_answer(5)
            await crowd.end()
        }

        @Test func `A name resolves though other look-ups were cancelled, within the bound`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            lookups_answer(8)
            let silent = try (0..<4).map { try Self.url("\($0).7", server) }
            let crowd = try Crowd(silent, lookupBound: 5)
            await eventually { lookups_of(7).current == 4 }
            for index in silent.indices { crowd.cancel(index) }
            for index in silent.indices {
                await #expect(throws: CancellationError.self) { try await crowd.body(index) }
            }
            let other = try crowd.add(try Self.url("name.8", server))
            #expect(try await other.value.body == Data("here".utf8))
            lookups_answer(7)
            await crowd.end()
        }

        @Test func `A look-up that fails for now fails at most one request of those to the name`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            lookups_fail(9, 1)
            let crowd = try Crowd(Array(repeating: try Self.url("name.9", server), count: 20))
            await eventually { lookups_of(9).all > 0 }
            lookups_answer(9)
            var failures: [RequestError.Code?] = []
            for index in 0..<20 {
                do {
                    #expect(try await crowd.body(index) == Data("here".utf8))
                } catch let failure as TransferFailure {
                    failures.append((failure.error as? RequestError)?.code)
                }
            }
            // libcurl takes what another look-up has found meanwhile.
            #expect(failures.isEmpty || failures == [.cannotResolveHost])
            await crowd.end()
        }

        // Before 7.87 libcurl waits for the threads of look-ups.
        @Test(.enabled(if: Libcurl.isVersion(from: (7, 87))))
        func `A transport ends though a look-up goes on`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let crowd = try Crowd([try Self.url("name.4", server)]) { _ in }
            await eventually { lookups_of(4).all > 0 }
            await crowd.end()
            // From 8.16 on libcurl may have cancelled it.
            #expect(lookups_of(4).current > 0 || Libcurl.isVersion(from: (8, 16)))
            lookups_answer(4)
        }
    }
#endif
