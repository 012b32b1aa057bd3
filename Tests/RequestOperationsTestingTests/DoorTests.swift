import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct DoorTests {
    @Test func `Who waits passes when it opens`() async {
        let door = Door()
        await withTaskGroup { group in
            for _ in 1...50 { group.addTask { await door.pass() } }
            door.open()
        }
    }

    @Test func `An open door stays open`() async {
        let door = Door()
        door.open()
        door.open()
        await door.pass()
        #expect(await door.isOpen(within: .zero))
    }

    @Test func `A door that nobody opens is closed when the time is over`() async {
        #expect(await !Door().isOpen(within: .milliseconds(1)))
    }

    @Test func `A door that opens in time is open`() async {
        let door = Door()
        async let isOpen = door.isOpen(within: .seconds(60))
        door.open()
        #expect(await isOpen)
    }
}
