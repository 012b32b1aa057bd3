import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RouteMessageTests {
    /// Bytes of messages as the kernel lays them out.
    enum Bytes {
        static func number<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            withUnsafeBytes(of: number, Array.init)
        }

        static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
            return joined([number(UInt16(value.count + 4)), number(type), value, padding])
        }

        static func message(_ type: UInt16, flags: UInt16 = 0, _ body: [UInt8]) -> [UInt8] {
            joined([
                number(UInt32(body.count + 16)), number(type), number(flags), [UInt8](repeating: 0, count: 8), body,
            ])
        }

        static func link(
            _ index: Int32, flags: UInt32, name: String = "eth0", hardware: UInt16 = 1, type: UInt16 = 16
        ) -> [UInt8] {
            let name = attribute(3, name.utf8 + [0])
            return message(
                type,
                joined([
                    [0, 0], number(hardware), number(index), number(flags), number(UInt32(0)),
                    attribute(99, [1, 2, 3]), name,
                ]))
        }

        static func address(
            _ link: UInt32, scope: UInt8 = 0, flags: UInt8 = 0, type: UInt16 = 20, attributes: [UInt8]? = nil
        ) -> [UInt8] {
            let both = joined([attribute(1, [10, 0, 0, 1]), attribute(2, [10, 0, 0, 2])])
            return message(type, joined([[2, 24, flags, scope], number(link), attributes ?? both]))
        }

        static func route(
            prefix: UInt8 = 0, table: UInt8 = 254, kind: UInt8 = 1, type: UInt16 = 24, attributes: [UInt8]? = nil
        ) -> [UInt8] {
            let both = joined([attribute(6, number(UInt32(100))), attribute(4, number(Int32(2)))])
            return message(
                type,
                joined([[2, prefix, 0, 0, table, 3, 0, kind], number(UInt32(0)), attributes ?? both]))
        }

        static func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined()) }
    }

    private func messages(_ bytes: [UInt8]) -> [RouteMessage] {
        bytes.withUnsafeBytes { RouteMessage.messages(in: $0) }
    }

    @Test(
        arguments: [
            (0x1 | 0x40, true), (0x1 | 0x40 | 0x10000, true), (0x1, false), (0x40, false), (0x1 | 0x40 | 0x8, false),
            (0, false),
        ] as [(UInt32, Bool)])
    func `A link is usable if it is up and runs and is no loopback`(flags: UInt32, isUsable: Bool) {
        #expect(
            messages(Bytes.link(2, flags: flags)) == [
                .link(.init(index: 2, name: "eth0", hardware: 1, isUsable: isUsable))
            ])
    }

    @Test func `A link that is removed is told by its number`() {
        #expect(messages(Bytes.link(7, flags: 0, type: 17)) == [.linkRemoved(index: 7)])
    }

    @Test func `An address is the local one or the only one`() {
        #expect(messages(Bytes.address(3)) == [.address(.init(link: 3, bytes: [10, 0, 0, 2]))])
        let one = Bytes.attribute(1, [10, 0, 0, 1])
        #expect(messages(Bytes.address(3, attributes: one)) == [.address(.init(link: 3, bytes: [10, 0, 0, 1]))])
        #expect(messages(Bytes.address(3, attributes: [])) == [])
    }

    @Test(arguments: [(0, 1), (200, 1), (253, 0), (254, 0)] as [(UInt8, Int)])
    func `An address that holds on its link only does not count`(scope: UInt8, count: Int) {
        #expect(messages(Bytes.address(3, scope: scope)).count == count)
        #expect(messages(Bytes.address(3, scope: scope, type: 21)).count == count)
    }

    @Test func `An address that is not usable yet does not count`() {
        #expect(messages(Bytes.address(3, flags: 0x40)) == [])
        let attributes = Bytes.joined([Bytes.attribute(1, [1]), Bytes.attribute(8, Bytes.number(UInt32(0x40)))])
        #expect(messages(Bytes.address(3, attributes: attributes)) == [])
        // Whatever it was, one that is gone is gone.
        #expect(messages(Bytes.address(3, flags: 0x40, type: 21)).count == 1)
    }

    @Test func `A default route has its link and priority`() {
        #expect(messages(Bytes.route()) == [.defaultRoute(.init(links: [2], family: 2, priority: 100))])
        #expect(messages(Bytes.route(type: 25)) == [.defaultRouteRemoved(.init(links: [2], family: 2, priority: 100))])
        #expect(messages(Bytes.route(attributes: [])) == [.defaultRoute(.init(links: [], family: 2, priority: 0))])
    }

    @Test func `A route by several links has them`() {
        func hop(_ link: Int32, _ attributes: [UInt8]) -> [UInt8] {
            Bytes.joined([Bytes.number(UInt16(8 + attributes.count)), [0, 0], Bytes.number(link), attributes])
        }
        let hops = hop(2, Bytes.attribute(5, [10, 0, 0, 1])) + hop(7, [])
        #expect(
            messages(Bytes.route(attributes: Bytes.attribute(9, hops)))
                == [.defaultRoute(.init(links: [2, 7], family: 2, priority: 0))])
    }

    @Test func `A route whose hops are cut short has those that are whole`() {
        let hop = Bytes.joined([Bytes.number(UInt16(8)), [0, 0], Bytes.number(Int32(2))])
        for rest in [[8], [0, 0, 0, 0, 1, 0, 0, 0]] as [[UInt8]] {
            #expect(
                messages(Bytes.route(attributes: Bytes.attribute(9, hop + rest)))
                    == [.defaultRoute(.init(links: [2], family: 2, priority: 0))])
        }
    }

    @Test func `Another route is of no interest`() {
        // A network, the table of local addresses, one that says unreachable.
        #expect(messages(Bytes.joined([Bytes.route(prefix: 24), Bytes.route(table: 255), Bytes.route(kind: 7)])) == [])
    }

    @Test func `Several messages come in one datagram`() {
        let odd = Bytes.message(3, [0])
        let padded = odd + [UInt8](repeating: 0, count: (4 - odd.count % 4) % 4)
        #expect(
            messages(
                Bytes.joined([padded, Bytes.message(1, []), Bytes.message(4, []), Bytes.link(7, flags: 0, type: 17)]))
                == [.end, .overrun, .linkRemoved(index: 7)])
    }

    @Test func `A refusal has its number`() {
        #expect(messages(Bytes.message(2, Bytes.number(Int32(-1)) + [0, 0])) == [.refused(1)])
        #expect(messages(Bytes.message(2, Bytes.number(Int32(0)))) == [])
    }

    @Test func `A refusal with the least of numbers is no trap`() {
        #expect(messages(Bytes.message(2, Bytes.number(Int32.min))) == [.refused(.min)])
    }

    @Test(arguments: [(0x12, true), (0x2, false), (0x10, false), (0x412, true)] as [(UInt16, Bool)])
    func `An answer during which something changed says so`(flags: UInt16, isInterrupted: Bool) {
        #expect(messages(Bytes.message(3, flags: flags, [])) == (isInterrupted ? [.interrupted, .end] : [.end]))
    }

    @Test func `What is cut short is left out`() {
        let whole = Bytes.joined([Bytes.link(2, flags: 0x41), Bytes.address(3), Bytes.route()])
        for count in 0...whole.count {
            #expect(messages(Array(whole.prefix(count))).count <= 3)
        }
    }

    @Test func `No bytes at all are read beyond their end`() {
        // Bytes by chance, seeded; each length is one that the message says of itself.
        let random = RandomSource(seed: 11)
        for _ in 0..<20_000 {
            var body = (0..<Int(random.next() * 40)).map { _ in UInt8(random.next() * 256) }
            if body.count > 4, random.next() < 0.5 { body[0] = UInt8(body.count) }
            let type = [UInt16(2), 16, 17, 20, 21, 24, 25].randomElement(using: random)
            _ = messages(Bytes.message(type, body) + body)
        }
    }

    @Test func `A question asks for all there is`() {
        let message = RouteMessage.Question.addresses.message(number: 9)
        #expect(message.count == 32 && message.withUnsafeBytes { $0.load(as: UInt32.self) } == 32)
        #expect(
            Array(message[4..<6]) == Bytes.number(UInt16(22)) && Array(message[6..<8]) == Bytes.number(UInt16(0x301)))
        #expect(Array(message[8..<12]) == Bytes.number(UInt32(9)) && message[12...].allSatisfy { $0 == 0 })
    }
}

extension [UInt16] {
    fileprivate func randomElement(using random: RandomSource) -> UInt16 {
        self[Int(random.next() * Double(count))]
    }
}
