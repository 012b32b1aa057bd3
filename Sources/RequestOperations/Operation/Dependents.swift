/// The operations that depend on one operation. A pure value.
///
/// It holds their states instead of the operations, which it must not keep alive: a weak reference would make every use
/// of an operation slower. States that are no longer of use are removed from time to time. An operation that runs for
/// days may have had millions of dependents.
struct Dependents {
    private var states: [Locked<OperationState>] = []
    /// At more than this many states, we look for those that are no longer of use.
    private var room = Self.leastRoom

    private static var leastRoom: Int { 16 }

    /// How many are kept.
    var count: Int { states.count }

    /// Adds a dependent. Returns whether there are now so many that the caller must take them out, sift them and put
    /// them back.
    mutating func add(_ dependent: Locked<OperationState>) -> Bool {
        states.append(dependent)
        return states.count > room
    }

    /// The dependents that still wait, each once. It takes the lock of each of them, so do not call it under a lock.
    func sifted(of dependency: ObjectIdentifier) -> Dependents {
        var known: Set<ObjectIdentifier> = []
        var sifted = Dependents()
        sifted.states = states.filter { state in
            // A dependent that stopped waiting and waits again is listed more than once.
            known.insert(state.identity).inserted && state.withLock { $0.dependencies.waits(for: dependency) }
        }
        return sifted
    }

    /// Puts back the dependents that were taken out, before those that came meanwhile.
    mutating func putBack(_ former: Dependents) {
        states = former.states + states
        room = max(Self.leastRoom, 2 * states.count)
    }

    /// Tells all dependents, in the order in which they came.
    func tell(of dependency: ObjectIdentifier) {
        for state in states { state.noteFinished(dependency) }
    }
}

extension Locked<OperationState> {
    /// Records that a dependency has finished. If the operation still exists and waits for nothing else, it goes on.
    func noteFinished(_ dependency: ObjectIdentifier) {
        withLock { $0.openGate { $0.noteFinished(dependency) } }?.open()
    }
}
