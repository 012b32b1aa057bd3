import RequestOperationsTesting
import Testing

@Suite struct DoorTests {
    @Test func whoWaitsPassesWhenItOpens() async {
        let door = Door()
        await withTaskGroup { group in
            for _ in 1...50 { group.addTask { await door.pass() } }
            door.open()
        }
    }

    @Test func anOpenDoorStaysOpen() async {
        let door = Door()
        door.open()
        door.open()
        await door.pass()
        #expect(await door.isOpen(within: .zero))
    }

    @Test func aDoorThatNobodyOpensIsClosedWhenTheTimeIsOver() async {
        #expect(await !Door().isOpen(within: .milliseconds(1)))
    }

    @Test func aDoorThatOpensInTimeIsOpen() async {
        let door = Door()
        async let isOpen = door.isOpen(within: .seconds(60))
        door.open()
        #expect(await isOpen)
    }
}
