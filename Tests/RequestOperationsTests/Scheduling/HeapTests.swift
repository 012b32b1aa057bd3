import Testing

@testable import RequestOperations

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
