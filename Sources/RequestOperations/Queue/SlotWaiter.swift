/// Waits for a slot. It is called on the thread that gives the slot, without any lock.
protocol SlotWaiter: AnyObject, Sendable {
    func wasAdmitted()

    /// Whether ``wasAdmitted()`` may run code of the user, which may take long.
    var reachesUserCode: Bool { get }
}

extension SlotWaiter {
    var reachesUserCode: Bool { false }
}

extension Answer: SlotWaiter where Value == Void {
    func wasAdmitted() {
        resume(with: .success(()))
    }
}
