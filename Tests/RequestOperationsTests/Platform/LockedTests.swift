import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct LockedTests {
    private struct Mine: Error {}

    @Test func `No change is lost under contention`() async {
        let count = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<5000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 40_000)
    }

    @Test func `Copies share their value`() {
        let first = Locked([1])
        let second = first
        second.withLock { $0.append(2) }
        #expect(first.withLock { $0 } == [1, 2])
    }

    @Test func `The lock is released when the body throws`() {
        let value = Locked(1)
        #expect(throws: Mine.self) {
            try value.withLock { value in
                value = 2
                throw Mine()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func `The value is freed with the last copy`() {
        final class Held: Sendable {}
        var held: Held? = Held()
        weak let weakly = held
        var locked: Locked<Held?>? = Locked(held)
        held = nil
        #expect(weakly != nil)
        withExtendedLifetime(locked) {}
        locked = nil
        #expect(weakly == nil)
    }
}
