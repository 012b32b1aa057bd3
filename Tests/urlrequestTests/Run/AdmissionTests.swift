import RequestOperations
import Testing

@testable import urlrequest

@Suite struct AdmissionTests {
    @Test func `As many requests are submitted as can be in flight, and half as many stand by, eight at least`() throws
    {
        for (concurrency, standby) in [(4, 8), (64, 32)] {
            var admission = Admission(limits: .init(concurrency: concurrency, perHost: nil))
            let verdicts = try (1...(concurrency + standby + 1)).map { admission.offer(try request($0)) }
            let expected =
                Array(repeating: Admission.Verdict.submit, count: concurrency)
                + Array(repeating: .held, count: standby) + [.wait]
            #expect(verdicts == expected)
            #expect(admission.takeNext() == nil)
        }
    }

    @Test func `The next that stands by takes the place of a request that ends`() throws {
        var admission = try filled(concurrency: 1)
        admission.ended(try request(1))
        #expect(taken(&admission) == [2])
        #expect(admission.offer(try request(10)) == .held)
    }

    @Test func `A request in backoff gives its place to another`() throws {
        var admission = try filled(concurrency: 1)
        admission.beganWaiting(try request(1))
        #expect(taken(&admission) == [2])
        #expect(admission.offer(try request(10)) == .held)
        #expect(admission.offer(try request(11)) == .wait)
    }

    @Test func `A request whose backoff is over goes before those that stand by`() throws {
        var admission = try filled(concurrency: 1)
        admission.beganWaiting(try request(1))
        #expect(taken(&admission) == [2])
        admission.beganAttempt(try request(1))
        admission.ended(try request(2))
        #expect(taken(&admission) == [])
        admission.ended(try request(1))
        #expect(taken(&admission) == [3])
    }

    @Test func `Requests in backoff have a bound of their own`() throws {
        var limits = Admission.Limits(concurrency: 1, perHost: nil)
        limits.waiting = 3
        var admission = Admission(limits: limits)
        for id in 1...3 {
            #expect(admission.offer(try request(id)) == .submit)
            admission.beganWaiting(try request(id))
        }
        #expect(admission.offer(try request(4)) == .wait)
        admission.beganAttempt(try request(1))
        #expect(admission.offer(try request(4)) == .held)
    }

    @Test func `While nobody reads the results nothing more is submitted than has a bound`() throws {
        var limits = Admission.Limits(concurrency: 2, perHost: nil)
        limits.unprinted = 2
        var admission = Admission(limits: limits)
        for id in 1...4 { _ = admission.offer(try request(id)) }
        for id in 1...2 { admission.ended(try request(id)) }
        #expect(taken(&admission) == [])
        #expect(!admission.isIdle)
        admission.printed(try request(1))
        #expect(taken(&admission) == [3, 4])
    }

    @Test func `A request to a full host is held back, and those behind it go first`() throws {
        var admission = Admission(limits: .init(concurrency: 4, perHost: 1))
        #expect(admission.offer(try request(1, host: "a")) == .submit)
        #expect(admission.offer(try request(2, host: "a")) == .held)
        #expect(admission.offer(try request(3, host: "b")) == .submit)
    }

    @Test func `Requests that were held back follow those of their host, in order`() throws {
        var admission = Admission(limits: .init(concurrency: 4, perHost: 1))
        for id in 1...4 { _ = admission.offer(try request(id, host: "a")) }
        admission.ended(try request(1, host: "a"))
        #expect(taken(&admission) == [2])
        admission.beganWaiting(try request(2, host: "a"))
        #expect(taken(&admission) == [3])
        admission.ended(try request(3, host: "a"))
        #expect(taken(&admission) == [4])
        admission.ended(try request(4, host: "a"))
        #expect(taken(&admission) == [])
    }

    @Test func `A request that stands by holds a place of its host`() throws {
        var admission = Admission(limits: .init(concurrency: 1, perHost: 1))
        #expect(admission.offer(try request(1, host: "a")) == .submit)
        #expect(admission.offer(try request(2, host: "b")) == .held)
        #expect(admission.offer(try request(3, host: "b")) == .held)
        admission.ended(try request(1, host: "a"))
        #expect(taken(&admission) == [2])
        admission.ended(try request(2, host: "b"))
        #expect(taken(&admission) == [3])
    }

    @Test func `Thousands that were held back come out whole and in order`() throws {
        var admission = Admission(limits: .init(concurrency: 1, perHost: 1))
        for id in 1...5000 { _ = admission.offer(try request(id)) }
        var order = [1]
        while order.count < 5000 {
            admission.printed(try request(order.count))
            order += taken(&admission)
        }
        admission.printed(try request(5000))
        #expect(order == Array(1...5000))
        admission.endInput()
        #expect(admission.isIdle)
    }

    @Test func `What is held back is bounded`() throws {
        var limits = Admission.Limits(concurrency: 4, perHost: 1)
        limits.held = 2
        var admission = Admission(limits: limits)
        #expect(try (1...4).map { admission.offer(try request($0)) } == [.submit, .held, .held, .wait])
    }

    @Test func `The bytes of all requests are bounded`() throws {
        var limits = Admission.Limits(concurrency: 4, perHost: nil)
        limits.bytes = 5000
        var admission = Admission(limits: limits)
        #expect(admission.offer(try request(1, bodyOf: 2000)) == .submit)
        #expect(admission.offer(try request(2, bodyOf: 1500)) == .wait)
        admission.printed(try request(1, bodyOf: 2000))
        #expect(admission.offer(try request(2, bodyOf: 1500)) == .submit)
    }

    @Test func `A body or field of all requests does not count for each`() throws {
        let fields = [try HeaderField(name: "X", value: String(repeating: "x", count: 10_000))]
        let shared = RequestTemplate(fields: fields, body: .data(Data(count: 1_000_000)))
        #expect(try shared.request(fromURL: "http://a.example/", id: 1).size < 3000)
    }

    @Test func `The fields of a line count`() throws {
        let line = #"{"url":"http://a.example/","headers":{"X":"\#(String(repeating: "x", count: 100_000))"}}"#
        let made = try #require(try RequestTemplate().request(from: .bytes(Array(line.utf8)[...]), id: 1))
        #expect(made.size > 100_000)
    }

    @Test func `What every request takes does not keep a large number of them from being in flight`() throws {
        let limits = Admission.Limits(concurrency: 100_000, perHost: nil)
        #expect(try limits.bytes >= 100_000 * request(1).size)
    }

    @Test func `A request that is larger than the bound goes alone`() throws {
        var limits = Admission.Limits(concurrency: 4, perHost: nil)
        limits.bytes = 10
        var admission = Admission(limits: limits)
        #expect(admission.offer(try request(1)) == .submit)
        #expect(admission.offer(try request(2)) == .wait)
    }

    @Test func `The run is idle when the input and all requests have ended and are printed`() throws {
        var admission = Admission(limits: .init(concurrency: 2, perHost: nil))
        for id in 1...2 { _ = admission.offer(try request(id)) }
        admission.endInput()
        #expect(!admission.isIdle)
        admission.printed(try request(1))
        admission.ended(try request(2))
        #expect(!admission.isIdle)
        admission.printed(try request(2))
        #expect(admission.isIdle)
    }

    @Test func `A run that was stopped submits nothing more and waits for what was submitted`() throws {
        var admission = Admission(limits: .init(concurrency: 4, perHost: 1))
        _ = admission.offer(try request(1))
        _ = admission.offer(try request(2))
        admission.stop()
        #expect(admission.offer(try request(3)) == .stopped)
        #expect(!admission.isIdle)
        admission.printed(try request(1))
        #expect(taken(&admission) == [])
        #expect(admission.isIdle)
    }

    @Test func `What a request does after its end counts for nothing`() throws {
        var admission = try filled(concurrency: 1)
        admission.ended(try request(1))
        #expect(taken(&admission) == [2])
        admission.beganWaiting(try request(1))
        admission.beganAttempt(try request(1))
        admission.ended(try request(1))
        admission.printed(try request(1))
        admission.printed(try request(1))
        #expect(taken(&admission) == [])
        admission.ended(try request(2))
        #expect(taken(&admission) == [3])
    }

    /// As many as there is room for, from number 1.
    private func filled(concurrency: Int) throws -> Admission {
        var admission = Admission(limits: .init(concurrency: concurrency, perHost: nil))
        var id = 1
        while admission.offer(try request(id)) != .wait { id += 1 }
        return admission
    }

    private func taken(_ admission: inout Admission) -> [Int] {
        var ids: [Int] = []
        while let next = admission.takeNext() { ids.append(next.id) }
        return ids
    }

    private func request(_ id: Int, host: String = "a", bodyOf count: Int = 0) throws -> InputRequest {
        guard count > 0 else { return try RequestTemplate().request(fromURL: "http://\(host).example/", id: id) }
        let line = #"{"url":"http://\#(host).example/","body":"\#(String(repeating: "x", count: count))"}"#
        return try #require(try RequestTemplate().request(from: .bytes(Array(line.utf8)[...]), id: id))
    }
}
