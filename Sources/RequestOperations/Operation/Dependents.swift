/// Those that wait for one operation as for a dependency: a pure value.
///
/// It holds their states and not the operations themselves, which need not be kept: a weak reference to an operation makes
/// every use of that dearer. The states of operations that are gone, or wait no longer, are forgotten in good time: an
/// operation that goes on for days may have had millions that depended on it.
struct Dependents {
    private var states: [Locked<OperationState>] = []
    /// With more than these it is time to look for those that are of no use.
    private var room = Self.leastRoom

    private static var leastRoom: Int { 16 }

    /// How many are kept.
    var count: Int { states.count }

    /// Adds one that waits; whether they are so many that they are to be taken out, sifted, and put back.
    mutating func add(_ dependent: Locked<OperationState>) -> Bool {
        states.append(dependent)
        return states.count > room
    }

    /// Those that still wait for the dependency, each once. Not to be called under a lock: it takes those of all of them.
    func sifted(of dependency: ObjectIdentifier) -> Dependents {
        var known: Set<ObjectIdentifier> = []
        var sifted = Dependents()
        sifted.states = states.filter { state in
            // Whoever has stopped waiting and waits again is there more than once.
            known.insert(state.identity).inserted && state.withLock { $0.dependencies.waits(for: dependency) }
        }
        return sifted
    }

    /// Puts those back that were taken out, before those that came meanwhile.
    mutating func putBack(_ former: Dependents) {
        states = former.states + states
        room = max(Self.leastRoom, 2 * states.count)
    }

    /// Tells all, in the order in which they came.
    func tell(of dependency: ObjectIdentifier) {
        for state in states { state.noteFinished(dependency) }
    }
}

extension Locked<OperationState> {
    /// A dependency has finished: the operation, if it is still there, does what it waited to do.
    func noteFinished(_ dependency: ObjectIdentifier) {
        withLock { $0.openGate { $0.noteFinished(dependency) } }?.open()
    }
}
