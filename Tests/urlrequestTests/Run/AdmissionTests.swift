import RequestOperations
import Testing

@testable import urlrequest

@Suite struct AdmissionTests {
    @Test func `As many requests are submitted as can be in flight, and half as many again`() throws {
        var admission = Admission(limits: .init(concurrency: 4, perHost: nil))
        let verdicts = try (1...7).map { admission.offer(try request($0)) }
        #expect(verdicts == Array(repeating: .submit, count: 6) + [.wait])
    }

    @Test func `A request that ends makes room for another`() throws {
        var admission = try filled(concurrency: 1)
        #expect(admission.ended(try request(1)) == nil)
        #expect(admission.offer(try request(3)) == .submit)
    }

    @Test func `A request in backoff makes room for another`() throws {
        var admission = try filled(concurrency: 1)
        #expect(admission.beganWaiting(try request(1)) == nil)
        #expect(admission.offer(try request(3)) == .submit)
        #expect(admission.offer(try request(4)) == .wait)
    }

    @Test func `Requests in backoff have a bound of their own`() throws {
        var limits = Admission.Limits(concurrency: 1, perHost: nil)
        limits.waiting = 3
        var admission = Admission(limits: limits)
        for id in 1...3 {
            #expect(admission.offer(try request(id)) == .submit)
            #expect(admission.beganWaiting(try request(id)) == nil)
        }
        #expect(admission.offer(try request(4)) == .wait)
        #expect(admission.beganAttempt(try request(1)))
        #expect(admission.offer(try request(4)) == .submit)
    }

    @Test func `A first attempt is no retry`() throws {
        var admission = try filled(concurrency: 1)
        #expect(!admission.beganAttempt(try request(1)))
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
        #expect(admission.ended(try request(1, host: "a"))?.id == 2)
        #expect(admission.beganWaiting(try request(2, host: "a"))?.id == 3)
        #expect(admission.ended(try request(3, host: "a"))?.id == 4)
        #expect(admission.ended(try request(4, host: "a")) == nil)
    }

    @Test func `Thousands that were held back come out whole and in order`() throws {
        var admission = Admission(limits: .init(concurrency: 1, perHost: 1))
        for id in 1...5000 { _ = admission.offer(try request(id)) }
        var order = [1]
        while let next = admission.ended(try request(order.count)) { order.append(next.id) }
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
        limits.bytes = 1500
        var admission = Admission(limits: limits)
        let bodies = (1...2).map { RequestTemplate(body: .data(Data(count: $0 * 500))) }
        #expect(admission.offer(try request(1, bodies[1])) == .submit)
        #expect(admission.offer(try request(2, bodies[0])) == .wait)
        _ = admission.ended(try request(1, bodies[1]))
        #expect(admission.offer(try request(2, bodies[0])) == .submit)
    }

    @Test func `A request that is larger than the bound goes alone`() throws {
        var limits = Admission.Limits(concurrency: 4, perHost: nil)
        limits.bytes = 10
        var admission = Admission(limits: limits)
        #expect(admission.offer(try request(1)) == .submit)
        #expect(admission.offer(try request(2)) == .wait)
    }

    @Test func `The run is idle when the input and all requests have ended`() throws {
        var admission = try filled(concurrency: 1)
        admission.endInput()
        #expect(!admission.isIdle)
        _ = admission.ended(try request(1))
        #expect(!admission.isIdle)
        _ = admission.ended(try request(2))
        #expect(admission.isIdle)
    }

    @Test func `A run that was stopped submits nothing more and waits for what was submitted`() throws {
        var admission = Admission(limits: .init(concurrency: 4, perHost: 1))
        _ = admission.offer(try request(1))
        _ = admission.offer(try request(2))
        admission.stop()
        #expect(admission.offer(try request(3)) == .stopped)
        #expect(!admission.isIdle)
        #expect(admission.ended(try request(1)) == nil)
        #expect(admission.isIdle)
    }

    @Test func `What a request does after its end counts for nothing`() throws {
        var admission = try filled(concurrency: 1)
        _ = admission.ended(try request(1))
        #expect(admission.beganWaiting(try request(1)) == nil)
        #expect(!admission.beganAttempt(try request(1)))
        _ = admission.ended(try request(1))
        #expect(admission.offer(try request(3)) == .submit)
        #expect(admission.offer(try request(4)) == .wait)
    }

    private func filled(concurrency: Int) throws -> Admission {
        var admission = Admission(limits: .init(concurrency: concurrency, perHost: nil))
        var id = 1
        while admission.offer(try request(id)) == .submit { id += 1 }
        return admission
    }

    private func request(
        _ id: Int, host: String = "a", _ template: RequestTemplate = RequestTemplate()
    ) throws -> InputRequest {
        try template.request(fromURL: "http://\(host).example/", id: id)
    }
}
