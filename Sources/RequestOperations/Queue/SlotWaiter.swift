/// Waits for a slot. It is told on the thread that gives the slot, and no lock is held then.
protocol SlotWaiter: AnyObject, Sendable {
    func wasAdmitted()

    /// Whether ``wasAdmitted()`` reaches code of the user's, who may take long.
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
