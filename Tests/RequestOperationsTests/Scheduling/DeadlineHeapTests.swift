import Dispatch
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct DeadlineHeapTests {
    private final class Held: Sendable {}

    /// Has a heap run nothing until a semaphore is signalled.
    private static func hold(_ heap: DeadlineHeap) async throws -> DispatchSemaphore {
        let begun = Answer<Void>()
        let mayGoOn = DispatchSemaphore(value: 0)
        _ = heap.schedule(at: .now) {
            begun.resume(with: .success(()))
            mayGoOn.wait()
        }
        try await begun.value
        return mayGoOn
    }

    @Test func `An action runs at its time and never before`() async throws {
        let heap = DeadlineHeap()
        let start = ContinuousClock.now + .milliseconds(5)
        let times = Locked<[(deadline: ContinuousClock.Instant, ran: ContinuousClock.Instant)]>([])
        // So close that they would tempt a heap to run several at a time.
        for step in 0..<200 {
            let deadline = start + .microseconds(100 * step)
            _ = heap.schedule(at: deadline) { times.withLock { $0.append((deadline, .now)) } }
        }
        let done = Answer<Void>()
        _ = heap.schedule(at: start + .milliseconds(25)) { done.resume(with: .success(())) }
        try await done.value
        let all = times.withLock { $0 }
        #expect(all.count == 200)
        #expect(all.allSatisfy { $0.ran >= $0.deadline })
        #expect(all.allSatisfy { $0.ran < $0.deadline + .seconds(5) })
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(-1_000_000_000)])
    func `A time in the past is now`(offset: Duration) async throws {
        let heap = DeadlineHeap()
        let answer = Answer<Void>()
        _ = heap.schedule(at: .now + offset) { answer.resume(with: .success(())) }
        try await answer.value
    }

    @Test func `Actions run in the order of their times and then of their scheduling`() async throws {
        let heap = DeadlineHeap()
        let start = ContinuousClock.now + .milliseconds(20)
        let order = Locked<[Int]>([])
        let done = Answer<Void>()
        let allAreThere = try await Self.hold(heap)
        // Numbered by their times, several at each, scheduled out of order.
        let numbers = (0..<200).sorted { ($0 % 7, $0) < ($1 % 7, $1) }
        for number in numbers {
            _ = heap.schedule(at: start + .milliseconds(number / 10)) {
                order.withLock { $0.append(number) }
            }
        }
        _ = heap.schedule(at: start + .milliseconds(25)) { done.resume(with: .success(())) }
        allAreThere.signal()
        try await done.value
        let times = order.withLock { $0 }
        #expect(times.map { $0 / 10 } == (0..<200).map { $0 / 10 })
        for tenth in 0..<20 {
            #expect(times.filter { $0 / 10 == tenth } == numbers.filter { $0 / 10 == tenth })
        }
    }

    @Test func `An earlier time overtakes a later one`() async throws {
        let heap = DeadlineHeap()
        let answer = Answer<Void>()
        let far = heap.schedule(at: .now + .seconds(3600)) { Issue.record("an hour passed") }
        _ = heap.schedule(at: .now + .milliseconds(1)) { answer.resume(with: .success(())) }
        try await answer.value
        heap.cancel(far)
    }

    @Test func `A cancelled action does not run`() async throws {
        let heap = DeadlineHeap()
        let answer = Answer<Void>()
        let isCancelled = try await Self.hold(heap)
        let deadline = ContinuousClock.now + .milliseconds(10)
        let entry = heap.schedule(at: deadline) { Issue.record("a cancelled action ran") }
        _ = heap.schedule(at: deadline + .milliseconds(2)) { answer.resume(with: .success(())) }
        heap.cancel(entry)
        heap.cancel(entry)
        isCancelled.signal()
        try await answer.value
    }

    @Test func `An action is freed when it is cancelled`() {
        let heap = DeadlineHeap()
        var held: Held? = Held()
        weak let weakly = held
        let entry = heap.schedule(at: .now + .seconds(3600)) { [held] in withExtendedLifetime(held) {} }
        held = nil
        #expect(weakly != nil)
        heap.cancel(entry)
        #expect(weakly == nil)
    }

    @Test func `An action is freed outside the lock`() {
        let heap = DeadlineHeap()
        final class Canceller: Sendable {
            let heap: DeadlineHeap
            let other: DeadlineHeap.Entry

            init(_ heap: DeadlineHeap) {
                self.heap = heap
                other = heap.schedule(at: .now + .seconds(3600)) {}
            }

            // Under the lock this would never return.
            deinit { heap.cancel(other) }
        }
        var canceller: Canceller? = Canceller(heap)
        let entry = heap.schedule(at: .now + .seconds(3600)) { [canceller] in withExtendedLifetime(canceller) {} }
        canceller = nil
        heap.cancel(entry)
    }

    @Test func `Cancelled entries do not pile up`() {
        let heap = DeadlineHeap()
        let kept = (0..<100).map { _ in heap.schedule(at: .now + .seconds(3600)) {} }
        for _ in 0..<100 {
            let entries = (0..<100).map { heap.schedule(at: .now + .seconds(60 + $0)) {} }
            for entry in entries { heap.cancel(entry) }
        }
        #expect(heap.count <= 300)
        for entry in kept { heap.cancel(entry) }
        #expect(heap.count <= 64)
    }

    @Test func `A hundred thousand entries run once each and leave nothing`() async throws {
        let heap = DeadlineHeap()
        let count = 100_000
        let ran = Locked(0)
        let done = Answer<Void>()
        let start = ContinuousClock.now
        for number in 0..<count {
            _ = heap.schedule(at: start + .milliseconds(number % 500)) {
                let isLast = ran.withLock { ran in
                    ran += 1
                    return ran == count
                }
                if isLast { done.resume(with: .success(())) }
            }
        }
        try await done.value
        #expect(ran.withLock { $0 } == count && heap.count == 0)
    }

    @Test func `Many threads schedule and cancel at once`() async throws {
        let heap = DeadlineHeap()
        let ran = Locked<Set<Int>>([])
        let cancelled = await withTaskGroup(of: [Int].self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).compactMap { index in
                        let number = task * 500 + index
                        let isCancelled = Bool.random()
                        let delay = isCancelled ? Duration.seconds(3600) : .microseconds(Int.random(in: 0...3000))
                        let entry = heap.schedule(at: .now + delay) { _ = ran.withLock { $0.insert(number) } }
                        if isCancelled { heap.cancel(entry) }
                        return isCancelled ? number : nil
                    }
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.formUnion($1) }
        }
        let done = Answer<Void>()
        _ = heap.schedule(at: .now + .milliseconds(10)) { done.resume(with: .success(())) }
        try await done.value
        #expect(ran.withLock { $0 } == Set(0..<4000).subtracting(cancelled))
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (.seconds(2), 2_000_000_000),
            (.milliseconds(-1500), -1_500_000_000), (.seconds(Int64.max), Int64.max), (.seconds(Int64.min), .min),
            (.seconds(9_223_372_036), 9_223_372_036_000_000_000), (.seconds(9_223_372_037), .max),
        ] as [(Duration, Int64)])
    func `A duration in nanoseconds is bounded by an Int64`(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}

@Suite(.timeLimit(.minutes(10))) struct HeapTests {
    private static func popAll(_ heap: Heap<Int>) -> [Int] {
        var heap = heap
        return Array(sequence(state: ()) { _ in heap.popFirst() })
    }

    private static func heap(of elements: some Sequence<Int>) -> Heap<Int> {
        var heap = Heap<Int>()
        for element in elements { heap.push(element) }
        return heap
    }

    @Test func `An empty heap has nothing at its front`() {
        var heap = Heap<Int>()
        #expect(heap.first == nil && heap.popFirst() == nil && heap.count == 0)
        heap.removeAll { _ in true }
        #expect(heap.count == 0)
    }

    @Test(arguments: [1, 2, 3, 7, 8, 100, 1000])
    func `Elements come out in order whatever the order they went in`(count: Int) {
        let elements = (0..<count).map { _ in Int.random(in: 0...count) }
        #expect(Self.popAll(Self.heap(of: elements)) == elements.sorted())
        #expect(Self.popAll(Self.heap(of: elements.sorted())) == elements.sorted())
        #expect(Self.popAll(Self.heap(of: elements.sorted(by: >))) == elements.sorted())
    }

    @Test(arguments: [1, 2, 3, 10, 1000])
    func `What is left after a removal comes out in order`(divisor: Int) {
        var heap = Self.heap(of: (0..<1000).shuffled())
        heap.removeAll { $0.isMultiple(of: divisor) }
        #expect(Self.popAll(heap) == (0..<1000).filter { !$0.isMultiple(of: divisor) })
    }

    @Test func `The least is always at the front`() {
        var heap = Heap<Int>()
        var model: [Int] = []
        for _ in 0..<2000 {
            if Bool.random() || model.isEmpty {
                let element = Int.random(in: 0...99)
                heap.push(element)
                model.append(element)
            } else {
                model.sort(by: >)
                #expect(heap.popFirst() == model.popLast())
            }
            #expect(heap.first == model.min() && heap.count == model.count)
        }
    }
}
