import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct EventDeliveryTests {
    private func event(_ step: RequestEvent.Step) -> RequestEvent {
        RequestEvent(
            id: RequestID(), attempt: nil, method: "GET", date: Date(), elapsed: .zero, step: step, waitReason: nil,
            original: nil)
    }

    private func delivery(to listener: @escaping EventDelivery.Listener) -> EventDelivery {
        let delivery = EventDelivery()
        _ = delivery.listen(listener)
        return delivery
    }

    @Test func `Nothing is told after the end`() {
        let told = Collector<RequestEvent>()
        let delivery = delivery { told.append($0) }
        delivery.deliver(event(.began))
        delivery.deliver(event(.ended(nil)))
        delivery.deliver(event(.abandoned(.decode)))
        delivery.deliver(event(.ended(nil)))
        #expect(told.count == 2)
    }

    @Test func `What happens while an event is told is told after it`() {
        let told = Collector<String>()
        let delivery = Locked<EventDelivery?>(nil)
        let teller = self.delivery { event in
            guard case .attemptBegan(let number) = event.step else { return }
            told.append("begins \(number)")
            if number == 1 { delivery.withLock { $0 }?.deliver(self.event(.attemptBegan(2))) }
            told.append("ends \(number)")
        }
        delivery.withLock { $0 = teller }
        teller.deliver(event(.attemptBegan(1)))
        #expect(told.elements == ["begins 1", "ends 1", "begins 2", "ends 2"])
        delivery.withLock { $0 = nil }
    }

    @Test func `Many threads tell one at a time and lose nothing`() {
        let inside = Locked(0)
        let told = Collector<Int>()
        let delivery = delivery { event in
            let isAlone = inside.withLock { count in
                count += 1
                return count == 1
            }
            if case .attemptBegan(let number) = event.step, isAlone { told.append(number) }
            inside.withLock { $0 -= 1 }
        }
        DispatchQueue.concurrentPerform(iterations: 1000) { delivery.deliver(event(.attemptBegan($0))) }
        #expect(told.elements.sorted() == Array(0..<1000))
    }
}
